"""Two workers of Ray Train on this machine, which its TorchTrainer makes the ranks of one job."""

import time

import ray
import stopwatch
import torch
from ray.train import ScalingConfig, get_context
from ray.train.torch import TorchTrainer
from torch.utils.data import DataLoader, DistributedSampler


def train():
    from training import BATCH, EPOCHS, STEP_S, Slow

    torch.set_num_threads(1)
    net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    samples = Slow()
    loader = DataLoader(samples, batch_size=BATCH, sampler=DistributedSampler(samples))
    for _ in range(EPOCHS):
        stopwatch.loop()
        for batch in loader:
            stopwatch.got()
            time.sleep(STEP_S)
            loss = net(batch).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            stopwatch.done()
        stopwatch.over()
    stopwatch.write(get_context().get_world_rank())


if __name__ == "__main__":
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    TorchTrainer(train, scaling_config=ScalingConfig(num_workers=2, use_gpu=False)).fit()
    ray.shutdown()
