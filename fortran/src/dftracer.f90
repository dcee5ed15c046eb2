! dftracer.f90 - the module dftracer: records what a Fortran program does and when.
!
! PROGRAMMING INTERFACE
!
!   use dftracer
!
!   call dft_region_begin('assembly')                 ! a region by name, with a category: dft_region_begin(name, cat)
!   call dft_update('elements', n)                    ! an argument of the innermost open region
!   call dft_region_end()
!
!   type(dft_site), save :: kernel                    ! a region by handle, for hot loops
!   kernel = dft_site('kernel', 'compute')            ! once
!   call dft_region_begin(kernel); ...; call dft_region_end()
!
!   type(dft_region) :: here                          ! a region that ends when the procedure returns
!   call here%begin('solve'); ...; call here%end()
!
!   type(dft_loop) :: time                            ! a loop and its steps
!   call time%begin('time')
!   do n = 1, steps
!     call time%step(n)
!   end do
!   call time%end()
!
!   dft_function_begin, dft_function_end              a region of the category `function`
!   dft_step_begin, dft_step_end                      a region with the argument `step`
!   dft_instant, dft_counter, dft_metadata            a point in time, a curve, a fact
!   dft_log_event, dft_time, dft_args                 an event with your own times, the clock, arguments of such events
!   dft_initialize, dft_finalize                      optional: trace file, recorded I/O, end of the trace
!   dft_set_rank, dft_rank, dft_size                  rank and size of the job; set automatically by the usual launchers
!   dft_thread_name, dft_pause, dft_resume, dft_is_enabled, dft_status_text, dft_version
!
! With DFTRACER_ENABLE=1 recording starts at the first call. Otherwise it is off.
!
! Strings   Any length. Trailing blanks do not count. They are passed by address and not copied.
! Threads   Every procedure may be called from any thread. The module has no variables.
! Errors    `stat` is optional and last: DFT_OK, or DFT_EDISABLED if nothing was recorded because tracing is off or
!           paused. An error never stops the program. If the trace cannot be written, the library prints one line on
!           stderr. An end without a begin is ignored; with DFTRACER_LOG_LEVEL=WARN the library prints how many there were.
!
! Plain Fortran 2008. Procedures are `recursive`, so that no compiler makes their local variables static, which threads
! would share.
! SPDX-License-Identifier: MIT
module dftracer
  use dftracer_session, only: dft_initialize, dft_finalize, dft_pause, dft_resume, dft_is_enabled, &
    dft_set_rank, dft_rank, dft_size, dft_thread_name, dft_version, dft_status_text, &
    DFT_OK, DFT_EDISABLED, DFT_EACTIVE, DFT_EINACTIVE, DFT_EINVAL, DFT_EIO, DFT_ENOSPC, DFT_ENOMEM, DFT_EFORMAT, &
    DFT_EBUSY, DFT_ENOSINK, DFT_EDROPPED
  use dftracer_region, only: dft_site, dft_region, dft_loop, dft_update, &
    dft_region_begin, dft_region_end, dft_function_begin, dft_function_end, dft_step_begin, dft_step_end
  use dftracer_args, only: dft_args
  use dftracer_event, only: dft_instant, dft_counter, dft_metadata, dft_log_event, dft_time
  implicit none
  public
end module dftracer
