! SPDX-License-Identifier: MIT
#include "dftracer.inc"
program macros
  DFT_USE
  implicit none
  integer :: i
  DFT_INITIALIZE
  DFT_RANK(0, 1)
  DFT_METADATA('code', 'macros')
  DFT_FUNCTION_BEGIN('macros')
  do i = 1, 3
    DFT_STEP_BEGIN('step', i)
    DFT_BEGIN('by name')
    DFT_UPDATE('i', i)
    DFT_END
    DFT_BEGIN_CAT('by name, with "a" comma', 'test')
    DFT_END
    DFT_STEP_END
  end do
  DFT_INSTANT('done')
  DFT_COUNTER('steps', i)
  DFT_FUNCTION_END
  DFT_FINALIZE
end program macros
