/* wiring.c - the functions behind the hooks of spool/hooks.h.
 * SPDX-License-Identifier: MIT */
#include "drain/drain.h"
#include "drain/room.h"
#include "record/joining.h"
#include "session/session.h"
#include "spool/hooks.h"
#include "state.h"
#include "teamnumber.h"

const struct dft__hooks dft__hooks = {
  .thread_enter = dft__thread_enter,
  .session_open_due = dft__session_open_due,
  .session_await_exit = dft__session_await_exit,
  .drain_notify = dft__drain_notify,
  .drain_ask_growth = dft__drain_ask_growth,
  .drain_make_room = dft__room_make,
  .team_number = dft__team_number,
  .io_session_opened = dft__io_session_opened,
  .io_session_closed = dft__io_session_closed,
};
