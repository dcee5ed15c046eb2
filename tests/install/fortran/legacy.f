C     An old code: fixed form, an implicit main program, include files,
C     common blocks. SPDX-License-Identifier: MIT
      use dftracer
      include 'legacy.inc'
      n = 3
      call dft_region_begin('main program')
      do 10 i = 1, n
         call advanc(i)
   10 continue
      call dft_region_end()
      print *, 'total', total
      end

      subroutine advanc(i)
      use dftracer
      include 'legacy.inc'
      call dft_region_begin('advance')
      call dft_update('i', i)
      total = total + i
      call dft_region_end()
      end
