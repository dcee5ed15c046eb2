"""train_transformers.py FOLDER WORKERS - a training by the Trainer, traced by DFTracerCallback."""

import pathlib
import sys

import sizes
import transformers.trainer
import truth
from dftracer.python import dftracer
from dftracer.python.transformers import DFTracerCallback
from torch.utils.data import DataLoader
from transformers import Trainer, TrainerCallback, TrainingArguments

folder, workers = sys.argv[1], int(sys.argv[2])
watch = truth.Watch()


class Epochs(TrainerCallback):
    """Tells the watch the epoch."""

    def on_epoch_begin(self, args, state, control, **_):
        watch.epoch = int(state.epoch)


class Measured(Trainer):
    """Measures fetches."""

    def get_batch_samples(self, epoch_iterator, num_batches, device):
        return super().get_batch_samples(watch.items(epoch_iterator, "fetch"), num_batches, device)


def measured_enumerate(items):
    """For the loop of evaluations; others are over lists."""
    return enumerate(watch.items(iter(items), "fetch") if isinstance(items, DataLoader) else items)


transformers.trainer.enumerate = measured_enumerate
log = dftracer.initialize_log(f"{folder}/out/train.pfw")
model = truth.Model(watch)
arguments = TrainingArguments(
    output_dir=f"{folder}/checkpoints",
    num_train_epochs=sizes.EPOCHS,
    per_device_train_batch_size=sizes.BATCH,
    per_device_eval_batch_size=sizes.BATCH,
    gradient_accumulation_steps=sizes.ACCUMULATION,
    eval_strategy="epoch",
    save_strategy="epoch",
    logging_strategy="no",
    report_to=[],
    use_cpu=True,
    disable_tqdm=True,
    dataloader_num_workers=workers,
)
training, evaluation = (loader.dataset for loader in truth.loaders(workers, arguments.world_size))
trainer = Measured(
    model,
    arguments,
    train_dataset=training,
    eval_dataset=evaluation,
    optimizers=(truth.SlowSGD(model.parameters(), watch), None),
    callbacks=[Epochs(), DFTracerCallback()],
)
trainer._save_checkpoint = watch.around(trainer._save_checkpoint, "checkpoint")
trainer.accelerator.backward = watch.around(trainer.accelerator.backward, "backward")
trainer.train()
log.finalize()
watch.save(folder)
assert list(pathlib.Path(folder).glob("checkpoints/checkpoint-*/*.safetensors"))
