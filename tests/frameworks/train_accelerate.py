"""train_accelerate.py FOLDER WORKERS [HOW] - a training with Accelerate, traced by one call as docs/torch.md says."""

import sys

import sizes
import torch
import truth
from accelerate import Accelerator
from dftracer.python import ai, dftracer
from dftracer.python.accelerate import trace as trace_accelerator
from dftracer.python.torch import trace

folder, workers = sys.argv[1], int(sys.argv[2])
log = dftracer.initialize_log(f"{folder}/out/train.pfw")
watch = truth.Watch()
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=sizes.ACCUMULATION)
model = truth.Model()
optimizer = truth.SlowSGD(model.parameters(), watch)
training, evaluation = truth.loaders(workers, accelerator.num_processes)
how = sys.argv[3] if len(sys.argv) > 3 else "late"         # early: before prepare; asked: by the accelerator
if how == "asked":
    trace_accelerator(accelerator)
elif how == "early":
    tracing = trace(model, optimizer, [training, evaluation])
model, optimizer, training, evaluation = accelerator.prepare(model, optimizer, training, evaluation)
if how == "late":
    tracing = trace(model, optimizer, [training, evaluation])
for epoch in range(sizes.EPOCHS):
    ai.update(epoch=epoch)
    watch.epoch = epoch
    model.train()
    for step, batch in enumerate(watch.items(iter(training), "fetch")):
        ai.update(step=step)
        with accelerator.accumulate(model):
            with watch("forward"):
                loss = model(**batch)["loss"]
            with watch("backward"):
                accelerator.backward(loss)
            optimizer.step()                               # does nothing while gradients are accumulated
            optimizer.zero_grad()
    model.eval()
    with torch.no_grad(), ai.pipeline.evaluate:
        for batch in watch.items(iter(evaluation), "fetch"):
            with watch("forward"):
                model(**batch)
    if accelerator.is_main_process:
        state = accelerator.unwrap_model(model).state_dict()
        with watch("checkpoint"):
            torch.save(state, f"{folder}/model-{epoch}.pt")
    accelerator.wait_for_everyone()
if how != "asked":
    tracing.undo()
log.finalize()
watch.save(folder)
accelerator.end_training()
