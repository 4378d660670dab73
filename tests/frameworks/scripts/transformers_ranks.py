"""transformers' Trainer in each rank of torchrun; the stopwatch is in what makes a batch, since the Trainer holds the loop."""

import time

import stopwatch
import torch
from training import BATCH, EPOCHS, SAMPLES, STEP_S, dawdle
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    default_data_collator,
)

EACH = SAMPLES // 2 // BATCH  # batches an epoch, of each of two ranks


class Texts(torch.utils.data.Dataset):
    """Asked for whole batches: a batch begins where the first sample is made."""

    made = 0

    def __len__(self):
        return SAMPLES

    def __getitems__(self, indices):
        if self.made % EACH == 0:
            if self.made:
                stopwatch.done()
            stopwatch.loop()
        else:
            stopwatch.done()
        self.made += 1
        for _ in indices:
            dawdle()
        return [{"input_ids": [index % 50] * 4, "labels": index % 2} for index in indices]


def collate(samples):
    batch = default_data_collator(samples)
    stopwatch.got()
    return batch


class Work(TrainerCallback):
    def on_step_begin(self, *_, **__):
        time.sleep(STEP_S)

    def on_train_end(self, *_, **__):
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
    disable_tqdm=True,
    use_cpu=True,
)
Trainer(
    BertForSequenceClassification(config), settings, data_collator=collate, train_dataset=Texts(), callbacks=[Work()]
).train()
