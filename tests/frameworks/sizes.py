"""sizes.py - how much the trainings of this folder train, on each rank. SPDX-License-Identifier: MIT"""

EPOCHS, BATCHES, EVALUATIONS = 3, 16, 4  # batches of an epoch, and of the evaluation after it
BATCH, ACCUMULATION = 2, 4
