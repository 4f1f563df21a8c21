; The ferry with a mistake: a robot that goes ashore leaves its berth occupied forever. This version
; does not mean the same as resources/examples/ferry/domain.pddl.
(define (domain ferry-forgetful)
  (:requirements :strips :typing)
  (:types robot island berth)
  (:predicates
    (lane ?from ?to - island)
    (ferry-at ?island - island)
    (ashore ?robot - robot ?island - island)
    (aboard ?robot - robot ?berth - berth)
    (vacant ?berth - berth))

  (:action sail
    :parameters (?from ?to - island)
    :precondition (and (ferry-at ?from) (lane ?from ?to))
    :effect (and (not (ferry-at ?from)) (ferry-at ?to)))

  (:action embark
    :parameters (?robot - robot ?island - island ?berth - berth)
    :precondition (and (ferry-at ?island) (ashore ?robot ?island) (vacant ?berth))
    :effect (and (not (ashore ?robot ?island)) (not (vacant ?berth)) (aboard ?robot ?berth)))

  (:action disembark
    :parameters (?robot - robot ?island - island ?berth - berth)
    :precondition (and (ferry-at ?island) (aboard ?robot ?berth))
    :effect (and (not (aboard ?robot ?berth)) (ashore ?robot ?island))))
