; The ferry with other names and a shortcut: `shuttle` sails there and back in one step. Since
; two sailings do the same, this version means the same as resources/examples/ferry/domain.pddl.
(define (domain ferry-renamed)
  (:requirements :strips :typing)
  (:types passenger harbour seat)
  (:predicates
    (route ?from ?to - harbour)
    (docked ?harbour - harbour)
    (waiting ?passenger - passenger ?harbour - harbour)
    (seated ?passenger - passenger ?seat - seat)
    (empty ?seat - seat))

  (:action cross
    :parameters (?from ?to - harbour)
    :precondition (and (docked ?from) (route ?from ?to))
    :effect (and (not (docked ?from)) (docked ?to)))

  (:action shuttle
    :parameters (?from ?over ?to - harbour)
    :precondition (and (docked ?from) (route ?from ?over) (route ?over ?to))
    :effect (and (not (docked ?from)) (docked ?to)))

  (:action board
    :parameters (?passenger - passenger ?harbour - harbour ?seat - seat)
    :precondition (and (docked ?harbour) (waiting ?passenger ?harbour) (empty ?seat))
    :effect (and (not (waiting ?passenger ?harbour)) (not (empty ?seat)) (seated ?passenger ?seat)))

  (:action leave
    :parameters (?passenger - passenger ?harbour - harbour ?seat - seat)
    :precondition (and (docked ?harbour) (seated ?passenger ?seat))
    :effect (and (not (seated ?passenger ?seat)) (empty ?seat) (waiting ?passenger ?harbour))))
