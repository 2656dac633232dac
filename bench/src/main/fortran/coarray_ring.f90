! A Fortran coarray program for tests of process trees: rounds of puts, gets, atomics, image control and collectives.
! Each round every element depends on what all images have put so far; integers only, so that the lines are the same in
! every run.
!
!   cafrun -n N coarray_ring ROUNDS [BRAKE]      slower as long as the file BRAKE is there
program coarray_ring
  use, intrinsic :: iso_fortran_env, only: int64, output_unit, atomic_int_kind
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  interface
    function usleep(microseconds) bind(c)
      import :: c_int
      integer(c_int), value :: microseconds
      integer(c_int) :: usleep
    end function
  end interface
  integer, parameter :: words = 3000, brake_us = 300000
  integer(int64) :: mine(words)[*], arrived(words)[*]
  integer(int64) :: seen(words), total
  integer(atomic_int_kind) :: tickets[*]
  integer(atomic_int_kind) :: counted
  integer :: rounds, round, me, all, right, left, i, ignored
  character(len=4096) :: argument, brake
  logical :: braked

  rounds = 100
  brake = ''
  if (command_argument_count() > 0) then
    call get_command_argument(1, argument)
    read (argument, *) rounds
  end if
  if (command_argument_count() > 1) call get_command_argument(2, brake)
  me = this_image()
  all = num_images()
  right = modulo(me, all) + 1
  left = modulo(me - 2, all) + 1
  do i = 1, words
    mine(i) = mix(int(i, int64), int(me, int64))
  end do
  if (me == 1) call atomic_define(tickets[1], 0)
  sync all
  do round = 1, rounds
    arrived(:)[right] = mine(:)
    sync all
    seen = mine(:)[left]
    if (any(seen /= arrived)) call fail('what the left neighbour has put is not what it has')
    call atomic_add(tickets[1], 1)
    sync all
    call atomic_ref(counted, tickets[1])
    if (counted /= all * round) call fail('the atomic counter is wrong')
    do i = 1, words
      mine(i) = mix(mine(i), arrived(modulo(i, words) + 1) + me)
    end do
    total = mine(modulo(round, words) + 1) / 65536
    call co_sum(total)
    sync all
    if (me == 1) then
      write (*, '(a,i0,a,z16.16,a,i0)') 'round ', round, ' sum ', total, ' tickets ', counted
      flush (output_unit)
    end if
    if (brake /= '') then
      inquire (file=trim(brake), exist=braked)
      if (braked) ignored = usleep(brake_us)
    end if
  end do
contains
  ! Below 2**31, so that no product overflows.
  pure integer(int64) function mix(a, b)
    integer(int64), intent(in) :: a, b
    mix = modulo(modulo(a, 2147483648_int64) * 1103515245_int64 + b + 12345_int64, 2147483648_int64)
  end function

  subroutine fail(what)
    character(len=*), intent(in) :: what
    write (*, '(a,i0,a,i0,2a)') 'image ', me, ': round ', round, ': ', what
    error stop 1
  end subroutine
end program
