! dftracer_session.f90 - the module dftracer_session: start and end of a trace, rank of the process, values of `stat`.
!
! Part of the module dftracer.
! SPDX-License-Identifier: MIT
module dftracer_session
  use, intrinsic :: iso_c_binding, only: c_char, c_f_pointer, c_int, c_int32_t, c_int64_t, c_loc, c_null_char, c_null_ptr, &
    c_ptr, c_size_t, c_sizeof
  use dftracer_c
  implicit none
  private

  public :: dft_initialize, dft_finalize, dft_pause, dft_resume, dft_is_enabled
  public :: dft_set_rank, dft_rank, dft_size, dft_thread_name, dft_version, dft_status_text
  public :: outcome, outcome_of, DEFAULT_CAT

  !> The values of `stat`, which are those of dft_status in dftracer/dft.h.
  integer, parameter, public :: DFT_OK = 0, DFT_EDISABLED = 1, DFT_EACTIVE = 2, DFT_EINACTIVE = 3, DFT_EINVAL = 4, &
    DFT_EIO = 5, DFT_ENOSPC = 6, DFT_ENOMEM = 7, DFT_EFORMAT = 8, DFT_EBUSY = 9, DFT_ENOSINK = 10, DFT_EDROPPED = 11

  !> The category of events that have no other.
  character(len=*), parameter :: DEFAULT_CAT = 'fortran'

contains

  !> Opens the trace; optional. Unless blank, `log_file` and `data_dir` override DFTRACER_LOG_FILE and
  !> DFTRACER_DATA_DIR. The process's I/O calls below the folders of `data_dir` or DFTRACER_DATA_DIR are recorded too,
  !> without a preload library. `rank` and `size` are for launchers that do not set them. DFT_EACTIVE: a trace was already
  !> open and continues.
  recursive subroutine dft_initialize(log_file, data_dir, rank, size, stat)
    character(len=*), intent(in), optional :: log_file, data_dir
    integer, intent(in), optional :: rank, size
    integer, intent(out), optional :: stat
    character(kind=c_char), allocatable, target :: log_text(:), data_text(:)
    type(c_options) :: options
    integer(c_int) :: status, bound
    if (present(rank)) call dft_set_rank(rank, size)
    options%log_file = c_null_ptr
    options%data_dir = c_null_ptr
    options%struct_size = c_sizeof(options)
    if (present(log_file)) call terminate(log_file, log_text)
    if (present(data_dir)) call terminate(data_dir, data_text)
    if (allocated(log_text)) options%log_file = c_loc(log_text)
    if (allocated(data_text)) options%data_dir = c_loc(data_text)
    status = c_start(options)
    if (status == DFT_OK .or. status == DFT_EACTIVE) bound = c_bind_io()
    if (present(stat)) stat = status
  end subroutine dft_initialize

  !> Completes the trace; optional, because the end of the program does it too. Later events are not recorded. `stat` is
  !> the first error of the whole trace, or DFT_EDROPPED.
  recursive subroutine dft_finalize(stat)
    integer, intent(out), optional :: stat
    integer(c_int) :: status
    status = c_stop()
    if (present(stat)) stat = status
  end subroutine dft_finalize

  !> Stops recording in the whole process until dft_resume. Regions that are open now are recorded when they end.
  recursive subroutine dft_pause(stat)
    integer, intent(out), optional :: stat
    call c_pause()
    if (present(stat)) stat = DFT_OK
  end subroutine dft_pause

  !> Ends dft_pause. Calls nest.
  recursive subroutine dft_resume(stat)
    integer, intent(out), optional :: stat
    call c_resume()
    if (present(stat)) stat = DFT_OK
  end subroutine dft_resume

  !> True while calls are recorded, or the first one would start a trace.
  recursive logical function dft_is_enabled()
    dft_is_enabled = c_is_enabled() /= 0
  end function dft_is_enabled

  !> Sets the rank of this process and the number of processes. OpenMPI, MPICH, PMIx, Slurm, Flux, PALS and torchrun set
  !> them in the environment; with other launchers, `call dft_set_rank(rank, size)` after MPI_Comm_rank and MPI_Comm_size.
  recursive subroutine dft_set_rank(rank, size, stat)
    integer, intent(in) :: rank
    integer, intent(in), optional :: size
    integer, intent(out), optional :: stat
    integer(c_int32_t) :: known
    known = -1
    if (present(size)) known = int(size, c_int32_t)
    call c_set_rank(int(rank, c_int32_t), known)
    if (present(stat)) stat = DFT_OK
  end subroutine dft_set_rank

  !> The rank; -1 if it is not known.
  recursive integer function dft_rank()
    dft_rank = int(c_rank())
  end function dft_rank

  !> The number of processes; -1 if it is not known.
  recursive integer function dft_size()
    dft_size = int(c_size())
  end function dft_size

  !> Names the calling thread in the trace.
  recursive subroutine dft_thread_name(name, stat)
    character(len=*), intent(in) :: name
    integer, intent(out), optional :: stat
    call c_thread_name(name, len_trim(name, c_size_t))
    if (present(stat)) stat = outcome()
  end subroutine dft_thread_name

  !> The version of the library.
  recursive function dft_version() result(text)
    character(len=:), allocatable :: text
    call copy_text(c_version(), text)
  end function dft_version

  !> The meaning of a `stat`.
  recursive function dft_status_text(stat) result(text)
    integer, intent(in) :: stat
    character(len=:), allocatable :: text
    call copy_text(c_status_text(int(stat, c_int)), text)
  end function dft_status_text

  ! ---- Helpers ---------------------------------------------------------------------------------------------------------

  !> The `stat` of a recording call.
  recursive integer function outcome()
    outcome = merge(DFT_OK, DFT_EDISABLED, c_is_enabled() /= 0)
  end function outcome

  !> The `stat` of a call that began a region.
  recursive integer function outcome_of(handle)
    integer(c_int64_t), intent(in) :: handle
    outcome_of = DFT_OK
    if (handle == 0) outcome_of = merge(DFT_EDROPPED, DFT_EDISABLED, c_is_enabled() /= 0)
  end function outcome_of

  !> Makes a C string; not allocated if the text is blank.
  recursive subroutine terminate(text, copy)
    character(len=*), intent(in) :: text
    character(kind=c_char), allocatable, intent(out) :: copy(:)
    integer :: i
    if (len_trim(text) == 0) return
    allocate (copy(len_trim(text) + 1))
    do i = 1, len_trim(text)
      copy(i) = text(i:i)
    end do
    copy(size(copy)) = c_null_char
  end subroutine terminate

  recursive subroutine copy_text(address, text)
    type(c_ptr), intent(in) :: address
    character(len=:), allocatable, intent(out) :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(address, letters, [c_strlen(address)])
    allocate (character(len=size(letters)) :: text)
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end subroutine copy_text

end module dftracer_session
