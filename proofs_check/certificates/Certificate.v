(** What a certificate of a law says, and the checker of it.  Everything here is extracted; [Sound.v] proves what
    acceptance means. *)

Require Import String List Arith Bool.
Import ListNotations.
Unset Elimination Schemes.

(** What holds of an option, or else; what it has, or else. *)
Definition on {A B} (o : option A) (none : B) (f : A -> B) : B := match o with Some a => f a | None => none end.
Definition or_else {A} (o : option A) (none : A) : A := match o with Some a => a | None => none end.

(** An instance: models as tables, and how drafts are drawn.  A law: of each first draft the verification, and what was
    found.  With [calls] = 0 it is of one call, which stops at drafted nodes, perhaps with the mean number of accepted
    tokens; else of the first [depth + calls] tokens of so many calls.  [invalid]: it is no sampler.  Of an optimum: the mass of each draft with each
    block; prices of both, whose sum is at least the number of tokens that agree; and the optimum, which is the value of
    both.  Without masses a bound of rules without state, by prices of words that are one token longer than drafts. *)
Record instance_of_ {T S : Type} := Instance { vocab : nat; target : T; proposal : T; draws : S; depth : nat }.
Record law_of_ {K F N : Type} := Certificate { calls : nat; verified : list K; invalid : bool; found : F; tau : option N }.
Record batch_of_ {R K F : Type} := Batch { requests : list R; judged : list (list K); claim : F }.
Record coupling_of_ {N : Type} := Coupling { plan : option (list (list N)); of_drafts : list N; of_blocks : list N; optimum : N }.
Arguments Instance {T S}.
Arguments Certificate {K F N}.
Arguments Coupling {N}.
Arguments Batch {R K F}.

Module Type NUMBER.
  Parameter t : Type.
  Parameters zero one : t.
  Parameters add sub mul div : t -> t -> t.
  Parameters equal less : t -> t -> bool.
End NUMBER.

(** Two lists side by side: [zip] stops where the shorter one ends, [both] wants equal lengths. *)
Section Both.
Context {A B C : Type}.
Variables (f : A -> B -> C) (h : A -> B -> bool).
Fixpoint zip (l : list A) (m : list B) : list C :=
  match l, m with a :: l, b :: m => f a b :: zip l m | _, _ => [] end.
Fixpoint both (l : list A) (m : list B) : bool :=
  match l, m with
  | [], [] => true
  | a :: l, b :: m => h a b && both l m
  | _, _ => false
  end.
End Both.

(** All words of [n] of the tokens 0 to V - 1. *)
Definition words (V n : nat) : list (list nat) :=
  fold_right (fun _ => flat_map (fun u => map (fun x => u ++ [x]) (seq 0 V))) [[]] (seq 0 n).

Module Over (N : NUMBER).
Import N.

Notation token := nat.
Notation context := (list token).
Notation row := (list t).

Definition sum (l : list t) : t := fold_right add zero l.
Definition at_token (r : row) (x : token) : t := nth x r zero.
Definition times (n : nat) (x : t) : t := sum (repeat x n).

(** Masses that are a distribution: none below zero, and one together. *)
Definition distribution (l : list t) : bool := forallb (fun m => negb (less m zero)) l && equal (sum l) one.

(** ** The two models: a row for a context is that of its longest suffix in the table *)

Notation table := (list (context * row)).

Definition entry (T : table) (c : context) : option row := option_map snd (find (fun '(d, _) => both Nat.eqb c d) T).

Fixpoint row_of (T : table) (c : context) : row :=
  match entry T c with
  | Some r => r
  | None => match c with [] => [] | _ :: suffix => row_of T suffix end
  end.

Definition is_row (V : nat) (r : row) : bool := (length r =? V) && distribution r.
Definition is_table (V : nat) (T : table) : bool :=
  forallb (fun '(_, r) => is_row V r) T && on (entry T []) false (fun _ => true).

(** ** Drafts: each with its probability *)

Definition law (A : Type) := list (t * A).
Definition ret {A} (a : A) : law A := [(one, a)].
Definition bind {A B} (m : law A) (f : A -> law B) : law B :=
  flat_map (fun '(w, a) => map (fun '(v, b) => (mul w v, b)) (f a)) m.

(** A token drawn from a row. *)
Definition draw (r : row) : law token :=
  concat (zip (fun x m => if less zero m then [(m, x)] else []) (seq 0 (length r)) r).

Definition normalise (r : row) : row :=
  let mass := sum r in if less zero mass then map (fun m => div m mass) r else r.

Definition without (r : row) (tokens : list token) : row :=
  normalise (zip (fun x m => if existsb (Nat.eqb x) tokens then zero else m) (seq 0 (length r)) r).
Definition has_mass (r : row) : bool := less zero (sum r).

(** The tokens of positive mass, the likeliest first, equal ones by their number. *)
Fixpoint placed (a : t * token) (l : law token) : law token :=
  match l with
  | [] => [a]
  | b :: l => if less (fst a) (fst b) then b :: placed a l else a :: b :: l
  end.
Definition ordered (r : row) : law token := fold_right placed [] (draw r).
Definition likeliest (r : row) (n : nat) : list token := firstn n (map snd (ordered r)).

(** The probability with which each of [sure] strata together drafts a token, the likeliest first. *)
Fixpoint inclusion (sure : nat) (l : law token) : law token :=
  match l with
  | [] => []
  | (m, x) :: rest =>
      let mass := sum (map fst l) in
      if less (times sure m) mass then map (fun '(m, x) => (div (times sure m) mass, x)) l
      else (one, x) :: inclusion (sure - 1) rest
  end.

(** The part of the line between [start] and [start + m] that lies between [j] and [j + 1]. *)
Definition overlap (start m j : t) : t :=
  let low := if less start j then j else start in
  let high := if less (add start m) (add j one) then add start m else add j one in
  if less low high then sub high low else zero.

Fixpoint stratum (j start : t) (l : law token) (x : token) : t :=
  match l with
  | [] => zero
  | (m, y) :: l => if x =? y then overlap start m j else stratum j (add start m) l x
  end.

Definition strata (r : row) (n : nat) : list row :=
  let order := ordered r in
  let n := Nat.min n (length order) in
  let line := inclusion n order in
  map (fun j => map (stratum (times j one) zero line) (seq 0 (length r))) (seq 0 n).

(** One of each law, independently. *)
Definition each_of {A} : list (law A) -> law (list A) :=
  fold_right (fun m l => bind m (fun x => bind l (fun l => ret (x :: l)))) (ret []).

Fixpoint one_by_one (n : nat) (r : row) : law (list token) :=
  match n with
  | 0 => ret []
  | S n =>
      if has_mass r then bind (draw r) (fun x => bind (one_by_one n (without r [x])) (fun l => ret (x :: l)))
      else ret []
  end.

Inductive drawing := Replacement | NoReplacement | Top | Greedy | Hub | Strata.

(** The tokens drafted below one context, at most [n] of them. *)
Definition siblings (how : drawing) (q : row) (n : nat) : law (list token) :=
  match how with
  | Replacement => each_of (repeat (draw q) n)
  | NoReplacement => one_by_one n q
  | Top => ret (likeliest q n)
  | Strata => each_of (map draw (strata q n))
  | Greedy =>
      let top := likeliest q (n - 1) in
      bind (one_by_one 1 (without q top)) (fun l => ret (l ++ top))
  | Hub =>
      let hub := nth 0 (likeliest q 1) 0 in
      let rest := one_by_one 1 (without q [hub]) in
      bind (draw q) (fun x => bind (if x =? hub then rest else ret [hub]) (fun l => ret (x :: l)))
  end.

(** What is drafted: every node's text, the root's aside. *)
Notation draft := (list context).
Inductive shape := Shape (below : list shape).

Fixpoint grow (how : drawing) (q : context -> row) (s : shape) (c : context) : law draft :=
  match s with
  | Shape [] => ret []
  | Shape below =>
      bind (siblings how (q c) (length below)) (fun tokens =>
        bind (each_of (zip (fun s x => bind (grow how q s (c ++ [x])) (fun d => ret ((c ++ [x]) :: d))) below tokens))
          (fun l => ret (concat l)))
  end.

(** How the drafter draws.  [Paths] are drawn one after the other; here equal ones stay apart.  [Listed]: the drafts stand
    in the certificate with their probabilities. *)
Inductive scheme := Tree (how : drawing) (s : shape) | Paths (count : nat) (s : shape) | Listed (l : law draft).

(** The drafts after a text. *)
Definition drafts (s : scheme) (q : context -> row) (c : context) : law draft :=
  match s with
  | Tree how s => grow how q s c
  | Paths count s => bind (each_of (repeat (grow Replacement q s c) count)) (fun l => ret (concat l))
  | Listed l => l
  end.

(** ** Verification of a draft *)

Inductive verification :=
| Branch (l : law verification)                (** a coin or a draw: each outcome with its probability *)
| Stop (c : context) (extra : option row)      (** the text is [c]; the next token's row, [None] the target's *)
| Again (c : context) (l : list verification). (** the text is [c]; for each next draft its verification *)

Definition begun (c u : context) : bool := both Nat.eqb c (firstn (length c) u).
Definition node (d : draft) (c : context) : bool := existsb (both Nat.eqb c) ([] :: d).

(** What is emitted: with some probability a text, after which the target goes on, and how much of it is accepted. *)
Notation ending := (t * (nat * context))%type.

Section Law.
Variables (V : nat) (once : bool) (D : context -> law draft).

(** A sampler: every branching is a distribution, every extra row a law, every draft has its verification; in a
    single call ([once]), which verifies one draft [d], every stop is at a node of it. *)
Fixpoint sampler (d : option draft) (k : verification) : bool :=
  match k with
  | Branch l => distribution (map fst l) && forallb (fun '(_, k) => sampler d k) l
  | Stop c extra =>
      on d true (fun d => node d c) && on extra true (is_row V)
  | Again c l =>
      on d true (fun _ => false) && distribution (map fst (D c)) &&
      both (fun k '(_, d) => sampler (if once then Some d else None) k) l (D c)
  end.

(** No sampler: after choices that are distributions, taken with a probability above zero, stands one that is none, or
    the end is no node of the draft, or its row no law. *)
Fixpoint fault (d : option draft) (k : verification) : bool :=
  match k with
  | Branch l => negb (distribution (map fst l)) || existsb (fun '(m, k) => less zero m && fault d k) l
  | Stop c extra => negb (on d true (fun d => node d c) && on extra true (is_row V))
  | Again c l =>
      let ds := D c in
      distribution (map fst ds) &&
      existsb (fun yes : bool => yes) (zip (fun k '(m, d) => less zero m && fault (if once then Some d else None) k) l ds)
  end.

Fixpoint endings (w : t) (k : verification) : list ending :=
  match k with
  | Branch l => flat_map (fun '(m, k) => endings (mul w m) k) l
  | Stop c extra => on extra [(w, (length c, c))] (fun r => zip (fun x m => (mul w m, (length c, c ++ [x]))) (seq 0 (length r)) r)
  | Again c l => concat (zip (fun k '(v, _) => endings (mul w v) k) l (D c))
  end.

End Law.

Section Target.
Variable p : context -> row.

(** The probability that the target's text after [c] goes on with [u]. *)
Fixpoint follows (c u : context) : t :=
  match u with [] => one | x :: u => mul (at_token (p c) x) (follows (c ++ [x]) u) end.

(** The probability that the text begins with [u], if it is [d] (both after [c]), and then the target's. *)
Fixpoint begins (c d u : context) : t :=
  match u, d with
  | [], _ => one
  | _, [] => follows c u
  | x :: u, y :: d => if x =? y then begins (c ++ [x]) d u else zero
  end.

Definition mass (l : list ending) (c u : context) : t := sum (map (fun '(w, (_, d)) => mul w (begins c d u)) l).

(** The mean number of accepted tokens. *)
Definition accepted (l : list ending) : t := sum (map (fun '(w, (n, _)) => times n w) l).

(** Whether all words have the target's probabilities.  [here] is the mass that reached [c] and follows the target,
    [want] the target's. *)
Definition below (x : token) (l : list ending) : list ending :=
  flat_map (fun '(w, (n, d)) => match d with y :: d => if x =? y then [(w, (n, d))] else [] | [] => [] end) l.

Definition ended : ending -> bool := fun '(_, (_, d)) => length d =? 0.

Fixpoint right (V fuel : nat) (c : context) (l : list ending) (here want : t) : bool :=
  let here := add here (sum (map fst (filter ended l))) in
  if forallb ended l then equal here want
  else match fuel with
  | 0 => false
  | S fuel =>
      let r := p c in
      forallb (fun x => right V fuel (c ++ [x]) (below x l) (mul here (at_token r x)) (mul want (at_token r x))) (seq 0 V)
  end.
End Target.

(** ** The checker *)

Definition instance : Type := @instance_of_ table scheme.

(** Perhaps a wrong prefix, with its probability and the target's. *)
Notation wrong P := (option (P * (t * t))).
Definition certificate : Type := @law_of_ verification (wrong context) t.

Definition sound_instance (I : instance) : bool :=
  is_table (vocab I) (target I) && is_table (vocab I) (proposal I).

Definition drafted (I : instance) : context -> law draft := drafts (draws I) (row_of (proposal I)).

Definition longest (I : instance) (K : certificate) : nat :=
  depth I + calls K.

(** What is found of a probability and the target's. *)
Definition says {P} (v : wrong P) (x y : t) : bool :=
  on v (equal x y) (fun '(_, (got, want)) => equal x got && equal y want && negb (equal got want)).

Definition check (I : instance) (K : certificate) : bool :=
  let p := row_of (target I) in
  let once := calls K =? 0 in
  let process := Again [] (verified K) in
  let l := endings (drafted I) one process in
  let sampled := sampler (vocab I) once (drafted I) None process in
  on (tau K) true (fun mean => once && equal (accepted l) mean) &&
  match found K with
  | None => if invalid K then fault (vocab I) once (drafted I) None process else sampled && right p (vocab I) (S (longest I K)) [] l zero one
  | Some (u, _) => sampled && (once || (length u <=? longest I K)) && says (found K) (mass p l [] u) (follows p [] u)
  end.

(** ** The most that a first call can accept: drafts coupled with target blocks *)
Definition coupling : Type := @coupling_of_ t.

(** How many tokens of the block are drafted. *)
Definition agree (y : context) (d : draft) : nat := fold_right (fun c most => if begun c y then Nat.max (length c) most else most) 0 d.

Fixpoint blocks (p : context -> row) (n : nat) (c : context) : law context :=
  match n with
  | 0 => ret []
  | S n => bind (draw (p c)) (fun x => bind (blocks p n (c ++ [x])) (fun y => ret (x :: y)))
  end.

Definition dot (l m : list t) : t := sum (zip mul l m).
Definition plus : list t -> list t -> list t := zip add.

(** [ws] and [ms]: the masses of drafts and blocks; [R]: what agrees. *)
Definition couples (ws ms : list t) (F : list row) : bool :=
  both (fun w f => equal (sum f) w && both (fun x (_ : t) => negb (less x zero)) f ms) ws F &&
  both equal (fold_right plus (map (fun _ => zero) ms) F) ms.

Definition worth (F R : list row) : t := sum (zip dot F R).

Definition best (ws ms : list t) (R F : list row) (c : coupling) : bool :=
  (length (of_blocks c) =? length ms) && couples ws ms F &&
  both (fun u r => both (fun v x => negb (less (add u v) x)) (of_blocks c) r) (of_drafts c) R &&
  equal (worth F R) (optimum c) && equal (add (dot ws (of_drafts c)) (dot ms (of_blocks c))) (optimum c).

Definition rewards (ds : law draft) (ys : law context) : list row :=
  map (fun '(_, d) => map (fun '(_, y) => times (agree y d) one) ys) ds.

(** ** The most that a rule without state can accept, if it is lossless: an output of a draft costs what the texts that
    begin with it cost on average *)
Definition unbeaten (V depth : nat) (p : context -> row) (ds : law draft) (c : coupling) : bool :=
  let price u := dot (of_blocks c) (map (begins p [] u) (words V (S depth))) in
  both (fun u '(_, d) => forallb (fun n => forallb (fun x => negb (less (add u (price (n ++ [x]))) (times (length n) one)))
    (seq 0 V)) ([] :: d)) (of_drafts c) ds &&
  equal (add (dot (map fst ds) (of_drafts c)) (price [])) (optimum c).

Definition check_optimum (I : instance) (c : coupling) : bool :=
  let p := row_of (target I) in
  let ds := drafted I [] in
  let ys := blocks p (depth I) [] in
  match plan c with
  | Some F => best (map fst ds) (map fst ys) (rewards ds ys) F c
  | None => unbeaten (vocab I) (depth I) p ds c
  end.

(** ** Batches: for every tuple of drafts, one of each request, the verification of each *)
Definition batch : Type := @batch_of_ instance verification (wrong (list context)).

(** Whether the joint probability of every tuple of words is as [holds] says.  [l]: the probability of each case with the
    probabilities of each request's words, [ps]: the target's. *)
Fixpoint joint (holds : t -> t -> bool) (ps : list row) (l : list (t * list row)) (want : t) : bool :=
  match ps with
  | [] => holds (sum (map fst l)) want
  | p :: ps =>
      forallb (fun x =>
        joint holds ps (filter (fun '(w, _) => negb (equal w zero)) (map (fun '(w, rs) => (mul w (at_token (nth 0 rs []) x), skipn 1 rs)) l))
          (mul want (at_token p x))) (seq 0 (length p))
  end.

Definition check_batch (B : batch) : bool :=
  let ds := each_of (map (fun i => drafted i []) (requests B)) in
  let rs := requests B in
  let asked := on (claim B) (map (fun i => words (vocab i) (S (depth i))) rs) (fun '(us, _) => map (fun u => [u]) us) in
  let got := zip (fun i us k => map (mass (row_of (target i)) (endings (drafted i) one k) []) us) rs asked in
  let cases := zip (fun ks '(w, _) => (w, zip (fun f k => f k) got ks)) (judged B) ds in
  forallb sound_instance rs && distribution (map fst ds) &&
  both (fun ks '(_, ds) => both (fun k ok => ok k) ks (zip (fun i d => sampler (vocab i) true (drafted i) (Some d)) rs ds)) (judged B) ds &&
  joint (says (claim B)) (zip (fun i => map (follows (row_of (target i)) [])) rs asked) cases one.

End Over.
