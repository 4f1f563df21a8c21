; python resources/examples/generate.py parcel-delivery --size 2 --seed 2
(define (problem parcel-delivery-2-2)
  (:domain parcel-delivery)
  (:objects
    place1 place2 place3 - place
    truck1 truck2 - truck
    parcel1 parcel2 - parcel
    room0 room1 - room)
  (:init
    (one-less room0 room1)
    (road place1 place2)
    (= (length place1 place2) 14)
    (road place2 place1)
    (= (length place2 place1) 14)
    (road place2 place3)
    (= (length place2 place3) 5)
    (road place3 place2)
    (= (length place3 place2) 5)
    (road place1 place3)
    (= (length place1 place3) 13)
    (road place3 place1)
    (= (length place3 place1) 13)
    (truck-at truck1 place1)
    (for-hire truck1)
    (has-room truck1 room1)
    (= (fee truck1) 24)
    (truck-at truck2 place2)
    (for-hire truck2)
    (has-room truck2 room1)
    (= (fee truck2) 5)
    (parcel-at parcel1 place3)
    (parcel-at parcel2 place2)
    (= (total-cost) 0))
  (:goal (and
    (parcel-at parcel1 place1)
    (parcel-at parcel2 place1)))
  (:metric minimize (total-cost)))
