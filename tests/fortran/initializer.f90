! initializer.f90 - a trace where the program says, with the I/O it says. Usage: initializer LOG_FILE DATA_DIR, blank: not given
! SPDX-License-Identifier: MIT
program initializer
  use dftracer
  implicit none
  character(len=500) :: log_file, data_dir
  integer :: unit, stat

  call get_command_argument(1, log_file)
  call get_command_argument(2, data_dir)
  call dft_initialize(log_file, data_dir, stat=stat)
  if (stat /= DFT_OK) error stop 'initialize'
  call dft_region_begin('output', 'io')
  open (newunit=unit, file='data/result.txt', status='replace')
  write (unit, '(a)') 'done'
  close (unit)
  call dft_region_end()
  call dft_finalize(stat)
  if (stat /= DFT_OK) error stop 'finalize'
end program initializer
