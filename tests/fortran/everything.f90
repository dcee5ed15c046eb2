! everything.f90 - every public entity of the module once, with every type; test_everything.py reads the trace.
! SPDX-License-Identifier: MIT
program everything
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use dftracer
  implicit none
  type(dft_site) :: kernel, unset
  type(dft_region) :: outer, inner
  type(dft_loop) :: loop
  type(dft_args) :: args
  character(len=40) :: padded
  integer :: i, stat
  integer(int64) :: start

  call dft_initialize(rank=3, size=8, stat=stat)
  call expect(stat, DFT_OK, 'initialize')
  call dft_initialize(stat=stat)
  call expect(stat, DFT_EACTIVE, 'initialize again')
  if (dft_rank() /= 3) error stop 'rank'
  if (dft_size() /= 8) error stop 'size'
  if (.not. dft_is_enabled()) error stop 'not enabled'
  if (dft_version() /= '5.0.0') error stop 'version'
  if (dft_status_text(DFT_EACTIVE) /= 'a trace is already open') error stop 'text of a status'

  ! By name; types of arguments.
  padded = 'named'
  call dft_region_begin(padded, 'cat', stat)
  call expect(stat, DFT_OK, 'begin')
  call dft_update('int32', -huge(1_int32), stat=stat)
  call expect(stat, DFT_OK, 'update')
  call dft_update('int64', huge(1_int64))
  call dft_update('real32', 0.5_real32)
  call dft_update('real64', 1.0e-300_real64)
  call dft_update('true', .true.)
  call dft_update('false', .false.)
  padded = 'padded value'
  call dft_update('text ', padded)
  call dft_update('twice', 1)
  call dft_update('twice', 2)
  call dft_region_end(stat)
  call expect(stat, DFT_OK, 'end')
  call dft_region_begin('default category')
  call dft_region_end()

  ! By handle.
  kernel = dft_site('kernel', 'compute')
  do i = 1, 3
    call dft_region_begin(kernel, stat=stat)
    call expect(stat, DFT_OK, 'begin by handle')
    call dft_region_end()
  end do
  kernel = dft_site('kernel   ')
  call dft_region_begin(kernel)
  call dft_region_end()
  call dft_region_begin(unset)
  call dft_region_end()

  ! By variable: arguments of a region that is not the innermost; `end` twice; `begin` twice.
  call outer%begin('outer', 'cat', stat)
  call expect(stat, DFT_OK, 'begin by variable')
  call inner%begin(kernel)
  call dft_update('of', 'outer', outer)
  call dft_update('of', 'inner', inner)
  call inner%end()
  call dft_update('of', 'nobody', inner)
  call inner%end(stat)
  call expect(stat, DFT_OK, 'end by variable')
  call inner%begin('first')
  call inner%begin('second')
  call inner%end()
  call outer%end()

  ! Functions, steps, loops.
  call dft_function_begin('procedure')
  call dft_step_begin('step', 7, 'cat')
  call dft_step_end()
  call dft_step_begin('step', 8_int64)
  call dft_step_end()
  call dft_function_end()
  call loop%begin('time', 'cat')
  do i = 1, 4
    call loop%step(i)
    if (i == 2) cycle
    call dft_region_begin('body')
    call dft_region_end()
  end do
  call loop%end(stat)
  call expect(stat, DFT_OK, 'end of a loop')

  ! What one call records.
  call dft_instant('instant')
  call args%add('int32', 1_int32)
  call args%add('int64', 2_int64)
  call args%add('real32', 0.25_real32)
  call args%add('real64', 0.125_real64, stat)
  call expect(stat, DFT_OK, 'add')
  call args%add('logical', .true.)
  call args%add('text  ', 'abc  ')
  call args%add('empty', '')
  do i = 1, 5
    call args%add('many'//achar(iachar('0') + i), repeat('x', i*1000))
  end do
  call dft_instant('instant', 'cat', args, stat)
  call expect(stat, DFT_OK, 'instant')
  call dft_counter('counter', 1_int32, 'cat')
  call dft_counter('counter', 2_int64, 'cat')
  call dft_counter('counter', 0.5_real32, 'cat')
  call dft_counter('counter', 0.25_real64)
  call dft_metadata('meta.text', 'solver  ')
  call dft_metadata('meta.int32', 12)
  call dft_metadata('meta.int64', -12_int64)
  call dft_metadata('meta.real32', 0.5_real32)
  call dft_metadata('meta.real64', 0.25_real64)
  call dft_metadata('meta.logical', .true.)
  start = dft_time()
  if (start < 1600000000000000_int64) error stop 'the clock'
  call args%clear()
  call args%add('bytes', 4096)
  call dft_log_event('explicit', 'cat', start - 5000, 1000_int64, args, stat)
  call expect(stat, DFT_OK, 'explicit times')
  call dft_log_event('explicit', 'cat', start - 3000, 2000_int64)
  call dft_thread_name('the main thread  ')

  ! Strings.
  call dft_region_begin('quo"te ''n'' \ back')
  call dft_update('grün', 'Wärme ∂T')
  call dft_update('newline', 'a'//new_line('a')//'b')
  call dft_region_end()
  call dft_region_begin('long')
  call dft_update('long', repeat('0123456789', 5000))
  call dft_region_end()
  call dft_region_begin('')
  call dft_update('empty', '   ')
  call dft_region_end()

  ! Not recorded.
  call dft_pause(stat)
  call expect(stat, DFT_OK, 'pause')
  call dft_region_begin('paused')
  call dft_update('a', 1, stat=stat)
  call expect(stat, DFT_EDISABLED, 'paused update')
  call dft_region_end()
  call dft_resume()
  call dft_finalize(stat)
  call expect(stat, DFT_OK, 'finalize')
  call dft_region_begin('after the end', stat=stat)
  call expect(stat, DFT_EDISABLED, 'begin after the end')
  call dft_region_end(stat)
  call expect(stat, DFT_EDISABLED, 'end after the end')
  call inner%begin('after the end', stat=stat)
  call expect(stat, DFT_EDISABLED, 'begin by variable after the end')
  call inner%end()

contains

  subroutine expect(got, wanted, what)
    integer, intent(in) :: got, wanted
    character(len=*), intent(in) :: what
    if (got /= wanted) then
      print *, what, ': got ', dft_status_text(got), ', not ', dft_status_text(wanted)
      error stop 1
    end if
  end subroutine expect
end program everything
