/* hooks.h - calls that go up: what a lower folder asks of a higher one.
 *
 * A file includes only headers of lower folders. If a slow path needs a function of a higher folder, it calls it through
 * this struct, and in no other way. The struct is constant and filled at link time (c/intercept/wiring.c), so it works
 * before any constructor has run.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_HOOKS_H
#define DFT_HOOKS_H

#include "record.h"

struct dft__spool;

enum dft__readiness { DFT__OFF = 0, DFT__READY = 1, DFT__PAUSED = 2 };

struct dft__hooks {
  /* record: makes the calling thread part of the session, after opening one when that is due. When there is no room for its
   * state, `events` are lost and counted: 1 for a call that would have made an event, else 0. */
  enum dft__readiness (*thread_enter)(uint32_t events);
  /* session: opens a session when the environment asks for one, or in the forked child of a traced process. Zero when there
   * is nothing to record into. Called with signals blocked; `signals` is what the program has blocked. */
  int (*session_open_due)(uint64_t signals);
  /* session: a call found the gate closed. If another thread ends the process, waits for that; zero when no thread does. */
  int (*session_await_exit)(void);
  /* drain: cells of records of this spool became ready. `signals` is what the program has blocked. */
  void (*drain_notify)(const struct dft__spool *spool, uint32_t cells, uint64_t signals);
  /* drain: the spool is full. Returns a chunk for a record of so many cells, after helping or waiting; NULL when that took
   * too long. Called with signals blocked; `signals` is what the program has blocked. */
  dft__chunk *(*drain_make_room)(struct dft__spool *spool, uint32_t cells, uint64_t signals);
  /* drain: a thread needs the spool's file to be longer. Nonzero when the background thread sees to that; else the caller has to. */
  int (*drain_ask_growth)(struct dft__spool *spool);
  /* intercept: which thread of its OpenMP team the calling thread is; 0: the first one, or in none. */
  uint32_t (*team_number)(uint64_t signals);
  /* intercept: a session was opened, or closed. */
  void (*io_session_opened)(void);
  void (*io_session_closed)(void);
};

extern const struct dft__hooks dft__hooks __attribute__((visibility("hidden")));

#endif
