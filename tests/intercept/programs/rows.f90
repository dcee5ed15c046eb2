! rows.f90 - formatted, unformatted and direct I/O of libgfortran. SPDX-License-Identifier: MIT
program rows
  implicit none
  integer :: i, unit, got(4)
  real(8) :: values(1000), back(1000)
  values = [(sqrt(real(i, 8)), i = 1, 1000)]
  open(newunit=unit, file='text.dat', status='replace', action='write')
  do i = 1, 200
    write(unit, '(i6,f12.4)') i, values(i)
  end do
  close(unit)
  open(newunit=unit, file='raw.dat', form='unformatted', access='stream', status='replace')
  write(unit) values
  rewind(unit)
  read(unit) back
  close(unit)
  open(newunit=unit, file='direct.dat', form='unformatted', access='direct', recl=16, status='replace')
  do i = 1, 50
    write(unit, rec=i) i, i * i, -i, 0
  end do
  read(unit, rec=7) got
  close(unit, status='delete')
  print '(4i6,f10.3)', got, sum(back)
end program
