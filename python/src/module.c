/* module.c - dftracer.dftracer: the native module.
 *
 * A trace belongs to the process, so there is only one state. If the module is removed from sys.modules and imported again,
 * the new module has the same types. Sub-interpreters are refused.
 * SPDX-License-Identifier: MIT */
#include <pthread.h>

#include "bound.h"
#include "calls.h"
#include "eventcalls.h"
#include "fn.h"
#include "function.h"
#include "label.h"
#include "loop.h"
#include "names.h"
#include "node.h"
#include "profile.h"
#include "ready.h"

/* ---- Made once ------------------------------------------------------------------------------------------------------- */

static PyTypeObject *make_type(PyObject *module, PyType_Spec *spec, PyTypeObject *base) {
  PyObject *bases = base ? PyTuple_Pack(1, base) : NULL;
  PyTypeObject *type;
  if (base && !bases) return NULL;
  type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, bases);
  Py_XDECREF(bases);
#ifndef Py_TPFLAGS_DISALLOW_INSTANTIATION
  if (type && (spec == &function_spec || spec == &loop_spec || spec == &ready_spec || spec == &bound_spec ||
               spec == &method_spec))
    type->tp_new = NULL;
#endif
  return type;
}

static int make_types(PyObject *module) {
  if ((native.bound = make_type(module, &bound_spec, NULL)) == NULL) return -1;
  if ((native.method = make_type(module, &method_spec, NULL)) == NULL) return -1;
  if ((native.profile = make_type(module, &profile_spec, NULL)) == NULL) return -1;
  if (bound_install(native.profile, 0) < 0) return -1;
  if (bound_install(native.profile, 1) < 0) return -1;
  if ((native.dft_fn = make_type(module, &dft_fn_spec, native.profile)) == NULL) return -1;
  if ((native.node = make_type(module, &node_spec, native.profile)) == NULL) return -1;
  if ((native.function = make_type(module, &function_spec, NULL)) == NULL) return -1;
  if ((native.loop = make_type(module, &loop_spec, NULL)) == NULL) return -1;
  if ((native.ready = make_type(module, &ready_spec, NULL)) == NULL) return -1;
  return 0;
}

/* The child's trace has its own end, which reports the layers used again. */
static void in_child(void) {
  native_marked = 0;
  native_is_new_child = 1;
  loop_forget_ready();
}

static int make_once(PyObject *module) {
  char value[8];
  if (native.module) return 0;
  dft_handlers_are_silent(); /* Python runs its handlers between two of its instructions, never inside our code */
  native_enabled = dft_config_get("DFTRACER_ENABLE", value, sizeof value) && value[0] == '1';
  if (names_make() < 0 || label_make_unknown() < 0 || make_types(module) < 0) return -1;
  pthread_atfork(NULL, NULL, in_child);
  Py_AtExit(finish_with_interpreter);
  native.module = Py_NewRef(module);
  return 0;
}

/* ---- The module -------------------------------------------------------------------------------------------------------- */

static int add(PyObject *module, const char *name, PyTypeObject *type) {
  return PyObject_SetAttrString(module, name, (PyObject *)type);
}

static int execute(PyObject *module) {
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    PyErr_SetString(PyExc_ImportError,
                    "dftracer works in the main interpreter of a process only, not in sub-interpreters");
    return -1;
  }
  if (make_once(module) < 0) return -1;
  if (PyModule_AddFunctions(module, event_call_methods) < 0) return -1;
  if (PyModule_AddStringConstant(module, "__version__", dft_version()) < 0) return -1;
  if (PyObject_SetAttrString(module, "_enabled", native_enabled ? Py_True : Py_False) < 0) return -1;
  return add(module, "dft_fn", native.dft_fn) || add(module, "DFTracerAI", native.node) ||
             add(module, "Function", native.function) || add(module, "Loop", native.loop) ||
             add(module, "Profile", native.profile)
           ? -1
           : 0;
}

static PyModuleDef_Slot module_slots[] = {
  {Py_mod_exec, execute},
#if PY_VERSION_HEX >= 0x030C0000
  {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
#if PY_VERSION_HEX >= 0x030D0000
  {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
  {0, NULL},
};

static PyModuleDef module_def = {
  PyModuleDef_HEAD_INIT,
  .m_name = "dftracer.dftracer",
  .m_doc = "The native module of dftracer: records events of a Python program through the C core.",
  .m_methods = call_methods,
  .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit_dftracer(void);

PyMODINIT_FUNC PyInit_dftracer(void) {
  return PyModuleDef_Init(&module_def);
}
