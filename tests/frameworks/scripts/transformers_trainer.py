"""transformers' Trainer holds the loop; its accelerate builds the loader."""

import time

import stopwatch
import torch
from training import BATCH, EPOCHS, SAMPLES, STEP_S, dawdle
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainerCallback, TrainingArguments


class Texts(torch.utils.data.Dataset):
    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        dawdle()
        return {"input_ids": [index % 50] * 4, "labels": index % 2}


class Stopwatch(TrainerCallback):
    """The Trainer asks for the next batch between the end of a step and the begin of the next."""

    def on_epoch_begin(self, *_, **__):
        stopwatch.loop()

    def on_step_begin(self, *_, **__):
        stopwatch.got()
        time.sleep(STEP_S)

    def on_step_end(self, *_, **__):
        stopwatch.done()


config = BertConfig(
    vocab_size=50, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8, num_labels=2
)
settings = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=BATCH,
    num_train_epochs=EPOCHS,
    report_to=[],
    save_strategy="no",
    logging_strategy="no",
    disable_tqdm=True,
    use_cpu=True,
)
model = BertForSequenceClassification(config)
trainer = Trainer(model, settings, train_dataset=Texts(), callbacks=[Stopwatch()])
trainer.log = lambda *_, **__: None  # how long it took differs from run to run
trainer.train()  # training
print(f"{model.classifier.weight.sum().item():.6f}")
