"""The solution of least time plus price of RAM. Memory is planned only where a lower bound does not decide."""

from __future__ import annotations

from mcugen.solve.budget import Solution, Unplanned


class Cheapest:
    """The cheapest of several solutions by its score: cost + price * bytes of RAM. Of equals, the first added.

    least: the score, or a lower bound of it while others wait to be planned. solution: the cheapest of those planned.
    """

    def __init__(self, solution: Solution, cost: float, price: float) -> None:
        self.solution, self._price = solution, price
        self.least = self._score = cost + price * solution.ram_bytes
        self._waiting: list[tuple[float, float, Unplanned]] = []

    def add(self, made: Unplanned, cost: float) -> None:
        """Add a solution whose memory is not planned. cost: its time in the unit of `Candidate.cost`."""
        least = cost + self._price * made.least_bytes
        if least < self._score:
            self._waiting.append((least, cost, made))
            self.least = min(self.least, least)

    def room(self, cost: float) -> float:
        """Bytes of RAM at which a solution of this cost has the score `least`. The fraction is rounded, so that the
        bytes of a planned solution come out whole.
        """
        return round((self.least - cost) / self._price, 3)

    def settle(self) -> bool:
        """Make `least` the score of the cheapest. Return whether any were left to plan.

        The most promising are planned first. The others are not planned if they cannot cost less.
        """
        waiting, self._waiting = self._waiting, []
        place = -1
        for k in sorted(range(len(waiting)), key=lambda k: waiting[k][0]):
            least, cost, made = waiting[k]
            if (least, k) > (self._score, place):
                break
            solution = made.planned()
            score = cost + self._price * solution.ram_bytes
            if solution.fits and (score, k) < (self._score, place):
                self.solution, self._score, place = solution, score, k
        self.least = self._score
        return bool(waiting)
