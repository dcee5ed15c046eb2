! in_fortran.f90 - the scenario in Fortran: in_c.c and in_python.py record the same. SPDX-License-Identifier: MIT
program in_fortran
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use omp_lib
  use dftracer
  implicit none
  type(dft_args) :: args
  integer :: i

  call dft_region_begin('main', 'app')
  call dft_update('int', -7)
  call dft_update('long', 9007199254740993_int64)
  call dft_update('real', 0.1_real64)
  call dft_update('flag', .true.)
  call dft_update('text', 'grün "quoted" \ back')
  do i = 1, 1000
    call step(i)
  end do
  !$omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) call work()
  !$omp end parallel
  call args%add('bytes', 1099511627776_int64)
  call args%add('ratio', 0.25)
  call args%add('file', 'a b')
  call dft_log_event('kernel', 'device', 1700000000000000_int64, 250_int64, args)
  call dft_metadata('scheme', 'upwind')
  if (command_argument_count() > 0) call more()
  call dft_region_end()

contains

  subroutine step(i)
    integer, intent(in) :: i
    type(dft_region) :: here
    call here%begin(dft_site('step', 'solver'))
    call dft_update('step', i)
    if (mod(i, 2) == 0) return
    call dft_region_begin('odd', 'solver')
    call dft_update('half', i/2.0_real64)
    call dft_region_end()
    call here%end()
  end subroutine step

  subroutine work()
    integer :: i
    call dft_region_begin('worker', 'thread')
    do i = 1, 3
      call step(i)
    end do
    call dft_region_end()
  end subroutine work

  subroutine more()
    type(dft_region) :: outer, inner
    call args%clear()
    call args%add('residual', 0.5)
    call dft_instant('converged', 'solver', args)
    call dft_counter('residual', 0.125, 'solver')
    call outer%begin('outer', 'solver')
    call inner%begin('inner', 'solver')
    call dft_update('of', 1, outer)
    call inner%end()
    call dft_pause()
    call dft_region_begin('paused', 'solver')
    call dft_region_end()
    call dft_resume()
    call outer%end()
    call outer%end()
  end subroutine more
end program in_fortran
