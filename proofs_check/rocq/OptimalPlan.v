(** The plan of a node's optimum, step by step as in theory/verifiers/shared/optimal.py, over any kind of number.

    [steps] and [rounds] bound the two loops: [None] says that one has not ended.  A new order is put last; that it is
    none of those kept, which Python would move, is proved ([new_order]). *)

Require Import List Arith Bool.
Require Import Programs Rules Python.
Import ListNotations.

Module Over (N : NUMBER).
Include Python.Over N.

(** ** A system, solved by elimination: row r of [A] has its right side at [n] *)

(** [A], computed once. *)
Definition tabled (n : nat) (A : nat -> nat -> N.num) : nat -> nat -> N.num :=
  let rows := map (fun r => map (A r) (seq 0 (S n))) (seq 0 n) in fun r k => nth k (nth r rows []) N.zero.

Definition pivoted (n i : nat) (A : nat -> nat -> N.num) : nat -> nat -> N.num := tabled n (fun r k =>
  let entry := N.div (A i k) (A i i) in if r =? i then entry else N.sub (A r k) (N.mul (A r i) entry)).

Definition solved (n : nat) (A : nat -> nat -> N.num) : list N.num :=
  let last := fold_left (fun A i => pivoted n i A) (seq 0 n) (tabled n A) in map (fun r => last r n) (seq 0 n).

Section Plan.
Variable V : nat.
Variable laws : list row.
Variable t : row.

Definition drawable : list token := filter (fun x => N.less N.zero (included laws x)) (vocabulary V).

Definition lacking (had : row) : list token :=
  let key x := N.div (N.sub (t x) (had x)) (included laws x) in
  fold_right (place (fun y x => N.less (key x) (key y))) [] drawable.

Definition led_in (order : list token) : row := leads order laws (map (fun _ => N.one) laws).

(** ** The test *)

Definition least (l : list N.num) (default : N.num) : N.num :=
  match l with [] => default | a :: l => fold_left minimum l a end.

(** The bounds of what stands first in the order, from the empty set on. *)
Fixpoint bounds (order : list token) (had : row) (sum : N.num) : list N.num :=
  sum :: match order with [] => [] | x :: order => bounds order had (N.add sum (N.sub (had x) (t x))) end.

Definition proved_best (order : list token) (chances : list (N.num * list token)) : bool :=
  let whole := fold_right (fun x sum => N.add (t x) sum) N.zero drawable in
  negb (N.less (total V (fun x => minimum (t x) (lead chances laws x))) (least (bounds order (led_in order) whole) N.zero)).

(** ** The chances that are nearest to t *)

(** In squares over pi. *)
Definition scalar (u v : row) : N.num := total V (fun x =>
  if N.less N.zero (included laws x) then N.div (N.mul (u x) (v x)) (included laws x) else N.zero).

Definition balance (rows : list row) : list N.num :=
  match rows with
  | [] => []
  | first :: others =>
      let n := length others in
      let edge r : row := fun x => N.sub (nth r others first x) (first x) in
      let entry r k := if k <? n then scalar (edge r) (edge k) else N.sub N.zero (scalar (edge r) first) in
      let weights := solved n entry in
      N.sub N.one (fold_right N.add N.zero weights) :: weights
  end.

Definition short (order : list token) : row := fun x => N.sub (led_in order x) (t x).

Definition want (chances : list (N.num * list token)) : list N.num := balance (map short (map snd chances)).

(** How far each order whose chance falls below 0 lets the chances move; [below] in the Python. *)
Definition limits (have part : list N.num) : list N.num :=
  flat_map (fun '(h, w) => if N.less w N.zero then [N.div h (N.sub h w)] else []) (combine have part).

Definition moved (step : N.num) (have part : list N.num) : list N.num :=
  map (fun '(h, w) => N.add h (N.mul step (N.sub w h))) (combine have part).

Definition kept_orders (chances : list (N.num * list token)) : list (N.num * list token) :=
  let have := map fst chances in
  let part := want chances in
  filter (fun o => N.less N.zero (fst o)) (combine (moved (least (limits have part) N.one) have part) (map snd chances)).

Fixpoint nearest (rounds : nat) (chances : list (N.num * list token)) : option (list (N.num * list token)) :=
  match rounds with
  | 0 => None
  | S rounds =>
      match limits (map fst chances) (want chances) with
      | [] => Some (kept_orders chances)
      | _ => nearest rounds (kept_orders chances)
      end
  end.

(** ** The plan *)

Fixpoint plan_from (steps : nat) (chances : list (N.num * list token)) : option (list (N.num * list token)) :=
  match steps with
  | 0 => None
  | S steps =>
      let order := lacking (lead chances laws) in
      if proved_best order chances then Some chances else
      match nearest (2 + length chances) (chances ++ [(N.zero, order)]) with
      | Some chances => plan_from steps chances
      | None => None
      end
  end.

Definition optimal_orders (steps : nat) : option (list (N.num * list token)) :=
  plan_from steps [(N.one, lacking (fun _ => N.zero))].

End Plan.

End Over.
