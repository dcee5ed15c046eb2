/* judgement.c - the verdict and the findings of a job.
 * SPDX-License-Identifier: MIT */
#include "judgement.h"

#include "costcount.h"
#include "inputwait.h"
#include "measuring.h"
#include "verdict_cause.h"
#include "verdict_words.h"

static const char *silence_of(const summary_answer *answer) {
  const state_question *question = &answer->state->question;
  if (answer->runs->shown == RUN_ALL && answer->runs->count > 1)
    return "No verdict, because it is about one run: --run N chooses one.";
  if (question->name_count || question->cat_count)
    return "No verdict, because the state was made with --name or --cat, and has not all events.";
  if ((question->has_from || question->has_to) && !answer->state->events)
    return "No event begins in the time that --from and --to ask for.";
  return NULL;
}

int judgement_make(judgement *made, summary_answer *answer) {
  job_costs *costs = &made->costs;
  measure_list *measures = &made->measures;
  job_verdict *verdict = &made->verdict;
  *made = (judgement){0};
  made->silence = silence_of(answer);
  if (made->silence) return 1;
  if (!costs_count(costs, answer) || (costs->is_training && !inputwait_measure(costs, answer->state))) return 0;
  if (!measures_take(measures, answer, costs) || !findings_make(&made->findings, measures, costs)) return 0;
  verdict_make(verdict, answer, costs, measures);
  if (!verdict->exists) return 1;
  if (!verdict_find_cause(verdict, answer, costs, measures)) return 0;
  verdict_move_guess(verdict, costs, measures);
  return verdict_say(verdict, answer, costs, measures, &made->findings);
}

void judgement_free(judgement *made) {
  verdict_free(&made->verdict);
  findings_free(&made->findings);
  measures_free(&made->measures);
  costs_free(&made->costs);
}
