"""kernel.py CELL... - runs the cells in a kernel of Jupyter, as a notebook does; prints how each of them ended.

A cell that prints `interrupt me` is interrupted. At the end, the kernel is told to shut down. If a cell printed
`kill me`, it is killed instead, as Jupyter does with one that takes some seconds to end. SPDX-License-Identifier: MIT
"""

import sys

from jupyter_client.manager import start_new_kernel

manager, client = start_new_kernel(kernel_name="python3", startup_timeout=200)
manager.shutdown_wait_time = 200  # seconds, on a busy machine
texts = []


def show(message):
    content = message["content"]
    if message["header"]["msg_type"] == "stream":
        (sys.stderr if content["name"] == "stderr" else sys.stdout).write(content["text"])
        texts.append(content["text"])
        if "interrupt me" in content["text"]:
            manager.interrupt_kernel()


for cell in sys.argv[1:]:
    reply = client.execute_interactive(cell, timeout=200, output_hook=show)["content"]
    print(reply["status"], reply.get("ename", ""), flush=True)
client.stop_channels()
manager.shutdown_kernel(now="kill me" in "".join(texts))
