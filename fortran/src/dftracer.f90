! dftracer.f90 - the module dftracer: what a Fortran program does and when, recorded into a trace.
!
! PROGRAMMING INTERFACE
!
!   use dftracer
!
!   call dft_region_begin('assembly')                 ! a region by name, with a category: dft_region_begin(name, cat)
!   call dft_update('elements', n)                    ! an argument of the innermost open region
!   call dft_region_end()
!
!   type(dft_site), save :: kernel                    ! a region of a hot loop by handle
!   kernel = dft_site('kernel', 'compute')            ! once
!   call dft_region_begin(kernel); ...; call dft_region_end()
!
!   type(dft_region) :: here                          ! a region that ends with the procedure, however that returns
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
!   dft_log_event, dft_time, dft_args                 an event with times of your own, the clock, arguments of such events
!   dft_initialize, dft_finalize                      optional: where the trace goes, whose I/O is recorded, when it ends
!   dft_set_rank, dft_rank, dft_size                  the process in its job; found without help under the usual launchers
!   dft_thread_name, dft_pause, dft_resume, dft_is_enabled, dft_status_text, dft_version
!
! Recording starts at the first call when DFTRACER_ENABLE=1 is set, and is off otherwise.
!
! Strings   of any length; trailing blanks do not count; they go down by address, nothing is copied.
! Threads   Every procedure may be called from any thread. The module has no variables.
! Errors    `stat` is optional and last. Without it trouble is told once on the error unit, and the program goes on.
!           With it: DFT_OK, or DFT_EDISABLED when nothing was recorded because tracing is off or paused.
!
! Plain Fortran 2008. Procedures are `recursive` so that no compiler keeps their local variables in one place for all threads.
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
