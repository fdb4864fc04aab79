(** Proofs of one size: a verifier run on symbols, for all rows p and q, and the checker of such a run.
    Everything here is extracted; [CellsSound.v] proves what acceptance means. *)

Require Import String List Arith Bool.
Require Import Certificate.
Import ListNotations.
Unset Elimination Schemes.

(** Lists in lexicographic order; of two of which one begins the other, the longer comes first.  A member is put where
    it belongs, before the members that are not less, or [joined] with one that is the same. *)
Section Order.
Context {A : Type}.
Variables same less : A -> A -> bool.
Variable joined : A -> A -> list A -> list A.
Fixpoint precedes (l m : list A) : bool :=
  match l, m with
  | x :: l, y :: m => less x y || (same x y && precedes l m)
  | _ :: _, [] => true
  | [], _ => false
  end.
Fixpoint insert (x : A) (l : list A) : list A :=
  match l with
  | [] => [x]
  | y :: m => if same x y then joined x y m else if less y x then y :: insert x m else x :: l
  end.
(** A list without one member. *)
Fixpoint drop (x : A) (l : list A) : list A := match l with y :: l => if same x y then l else y :: drop x l | [] => [] end.
End Order.

Notation word := (list nat).
Definition same_word : word -> word -> bool := both Nat.eqb.
Definition earlier : word -> word -> bool := precedes Nat.eqb Nat.ltb.
Definition in_words (w : word) : list word -> bool := existsb (same_word w).

(** Signs: 0 below zero, 1 zero, 2 above.  What is known of a sign is a list of those that it may be. *)
Notation signs := (list nat).
Definition zero_only : signs := [1].
Definition above : signs := [2].
Definition not_below : signs := [1; 2].
Definition any : signs := 0 :: not_below.
Definition is_in (s : signs) (x : nat) : bool := existsb (Nat.eqb x) s.
Definition within (s u : signs) : bool := forallb (is_in u) s.
Definition outside (s u : signs) : signs := filter (fun x => negb (is_in u x)) s.
Definition sign_times (x y : nat) : nat := if (x =? 1) || (y =? 1) then 1 else if x =? y then 2 else 0.
Definition signs_times (s u : signs) : signs := flat_map (fun x => map (sign_times x) u) s.

Module Over (N : NUMBER).
Import N.

(** ** Polynomials

    A variable is a word: 0, c and x for the target's probability of x after c, 1, c and x for the proposal's.
    A monomial is its variables in order, with repetitions. *)
Notation monomial := (list word).
Notation polynomial := (list (t * monomial)).

Definition plus : polynomial -> polynomial -> polynomial :=
  fold_right (insert (fun a b => both same_word (snd a) (snd b)) (fun a b => precedes same_word earlier (snd a) (snd b))
    (fun a b p => let c := add (fst a) (fst b) in if equal c zero then p else (c, snd a) :: p)).
Definition term (c : t) (a : monomial) (p : polynomial) : polynomial :=
  map (fun '(d, b) => (mul c d, fold_right (insert same_word earlier (fun v w a => v :: w :: a)) b a)) p.
Definition times (p q : polynomial) : polynomial := fold_right (fun '(c, a) r => plus (term c a q) r) [] p.
Definition minus (p q : polynomial) : polynomial := plus p (term (sub zero one) [] q).
Definition one_p : polynomial := [(one, [])].
Definition variable (v : word) : polynomial := [(one, [v])].
Definition product (l : list polynomial) : polynomial := fold_right times one_p l.
Definition total (l : list polynomial) : polynomial := fold_right plus [] l.
Definition same_p : polynomial -> polynomial -> bool :=
  both (fun '(c, a) '(d, b) => both same_word a b && equal c d).

(** The polynomial with [g] for the variable [v]. *)
Definition put (v : word) (g p : polynomial) : polynomial :=
  if existsb (fun '(_, a) => in_words v a) p then
    total (map (fun '(c, a) => times [(c, [])] (product (map (fun x => if same_word x v then g else variable x) a))) p)
  else p.

Definition no_term (p : polynomial) : bool := same_p p [].

(** ** Cells: what is known of the signs of some polynomials, each with the leading coefficient one, and of which
    variables what they equal *)
Notation fact := (polynomial * signs)%type.
Notation cell := (list fact * list (word * polynomial))%type.

Definition reduce (F : cell) (p : polynomial) : polynomial := fold_right (fun '(v, g) p => put v g p) p (snd F).

Definition lead (p : polynomial) : t := match p with (c, _) :: _ => c | [] => one end.
Definition monic (p : polynomial) : polynomial :=
  if equal (lead p) one || equal (lead p) zero then p else term (div one (lead p)) [] p.

Definition turned (p : polynomial) (s : signs) : signs := if less (lead p) zero then map (fun x => 2 - x) s else s.

(** The signs that a polynomial may have in a cell. *)
Definition may_be (F : cell) (p : polynomial) : signs :=
  let p := reduce F p in
  if no_term p then zero_only else turned p (snd (or_else (find (fun f => same_p (fst f) (monic p)) ((one_p, above) :: fst F)) (p, any))).

(** The rest of [p] after division by [g], whose leading coefficient is one. *)
Fixpoint rest (steps : nat) (g p : polynomial) : polynomial :=
  match steps, p with
  | S steps, (c, b) :: r =>
      let a := snd (nth 0 g (one, [])) in
      let quotient := fold_right (drop same_word) b a in
      if length quotient + length a =? length b then rest steps g (minus p (term c quotient g))
      else (c, b) :: rest steps g r
  | _, _ => p
  end.

(** The rest of [p] after division by all polynomials that are zero in a cell, the first known first. *)
Definition rest_in (steps : nat) (F : cell) (p : polynomial) : polynomial :=
  fold_right (fun '(g, s) p => if within s zero_only then rest steps g p else p) p (fst F).

(** Polynomials with signs, of which none is below zero, that they do not all have at once, and why; without a proof it
    is assumed.  A proof is a sum of products of the literals named, each with a coefficient that is not below zero, if
    not the product is zero; the sum is zero, while one of them is positive. *)
Notation clause := (list fact * option (list (t * list nat)))%type.
Definition refuted (k : clause) : bool :=
  let literal i := nth i (fst k) ([], zero_only) in
  let has s i := within (snd (literal i)) s in
  on (snd k) true (fun l =>
    no_term (total (map (fun '(c, is) => term c [] (product (map (fun i => fst (literal i)) is))) l)) &&
    forallb (fun '(c, is) => existsb (has zero_only) is || (negb (less c zero) && forallb (has not_below) is)) l &&
    existsb (fun '(c, is) => less zero c && forallb (has above) is) l).

(** A variable that a polynomial, which is zero, determines: the leading ones first. *)
Definition solved (p : polynomial) : list (word * polynomial) :=
  firstn 1 (flat_map (fun '(c, a) => let v := nth 0 a [] in
    if (length a =? 1) && (length (filter (fun '(_, b) => in_words v b) p) =? 1)
    then [(v, minus (variable v) (term (div one c) [] p))] else []) p).

(** Quotients of polynomials, the lower one as its factors; weights: both as factors. *)
Notation quotient := (polynomial * list polynomial)%type.
Notation weight := (t * (list polynomial * list polynomial))%type.

Section Clauses.
Variable clauses : list clause.

(** What the clauses say in a cell: all literals but one hold, so that one does not. *)
Definition units (F : cell) : list fact :=
  flat_map (fun k =>
    match filter (fun '(p, s) => negb (within (may_be F p) s)) (fst k) with
    | [] => [([], above)]
    | (p, s) :: l => if (length l =? 0) && negb (within (may_be F p) (outside any s)) then [(p, outside any s)] else []
    end) clauses.

(** The cell where also these polynomials have these signs, and what follows; [None] if it is empty. *)
Fixpoint learn (steps : nat) (todo : list fact) (F : cell) : option cell :=
  match steps with
  | 0 => Some F
  | S steps =>
      match todo with
      | [] => Some F
      | (p, s) :: todo =>
          let g := reduce F p in
          let now := filter (is_in s) (may_be F p) in
          if length now =? 0 then None
          else if within (may_be F p) s then learn steps todo F
          else
            let found := if within now zero_only then solved g else [] in
            let lower := if within now zero_only then [(monic (rest_in steps F g), zero_only)] else [] in
            let new := (monic g, turned g now) :: lower ++ fst F in
            let G := (if length found =? 0 then new else [], found ++ snd F) in
            learn steps ((if length found =? 0 then [] else new) ++ todo ++ units G) G
      end
  end.
Variable steps : nat.

(** The part of a cell in which the sign of [p] is one of [s], and the other one. *)
Definition part (F : cell) (p : polynomial) (s : signs) (yes : bool) : option cell :=
  learn steps [(p, if yes then s else outside any s)] F.
Definition parts (F : cell) (p : polynomial) (s : signs) (k : cell -> bool -> bool) : bool :=
  forallb (fun yes => on (part F p s yes) true (fun F => k F yes)) [true; false].

(** ** Quotients and weights *)

(** The factors of two lists that the other one has not. *)
Fixpoint apart (l m : list polynomial) : list polynomial * list polynomial :=
  match l with
  | [] => ([], m)
  | p :: l =>
      if existsb (same_p p) m then apart l (drop same_p p m)
      else let '(l, m) := apart l m in (p :: l, m)
  end.

Definition add_q (a b : quotient) : quotient :=
  let '(mine, theirs) := apart (snd a) (snd b) in
  (plus (times (fst a) (product theirs)) (times (fst b) (product mine)), mine ++ snd b).
Definition scaled (w : weight) (a : quotient) : quotient :=
  let '(c, (up, down)) := w in
  let '(up, below) := apart up (snd a) in (term c [] (times (fst a) (product up)), below ++ down).

Definition same_q (F : cell) (a b : quotient) : bool :=
  no_term (rest_in steps F (reduce F (fst (add_q a (scaled (sub zero one, ([], [])) b))))).

Definition no_zero (F : cell) (l : list polynomial) : bool := forallb (fun p => negb (is_in (may_be F p) 1)) l.

(** Weights that are a distribution in the cell. *)
Definition is_law (F : cell) (l : list weight) : bool :=
  forallb (fun '(c, (up, down)) =>
    no_zero F down && within (turned [(c, [])] (fold_right signs_times above (map (may_be F) (up ++ down)))) not_below) l &&
  same_q F (fold_right add_q ([], []) (map (fun w => scaled w (one_p, [])) l)) (one_p, []).

(** Quotients that differ from cell to cell. *)
Inductive value := Leaf (a : quotient) | Split (p : polynomial) (s : signs) (yes no : value).

(** What [leaf] makes of two values, leaf by leaf, in a cell that [cut] cuts as they are. *)
Section Meet.
Context {A : Type}.
Variables (cut : cell -> polynomial -> signs -> (cell -> bool -> A) -> A) (leaf : cell -> quotient -> quotient -> A).
Fixpoint meet (v : value) : value -> cell -> A :=
  fix with_v (w : value) (F : cell) : A :=
    match v, w with
    | Split p s yes no, _ => cut F p s (fun F b => meet (if b then yes else no) w F)
    | Leaf _, Split p s yes no => cut F p s (fun F b => with_v (if b then yes else no) F)
    | Leaf a, Leaf b => leaf F a b
    end.
End Meet.

(** Whether the first value is right in a cell where the second is. *)
Definition serves : value -> value -> cell -> bool := meet parts (fun F a b => no_zero F (snd a) && same_q F a b).

Definition split (F : cell) (p : polynomial) (s : signs) (k : cell -> bool -> value) : value :=
  let (Y, N) := (part F p s true, part F p s false) in
  let value o b := on o (Leaf ([], [])) (fun F => k F b) in
  let (yes, no) := (value Y true, value N false) in
  if on N true (serves yes no) then yes else if on Y true (serves no yes) then no else Split p s yes no.

Definition add_v : value -> value -> cell -> value := meet split (fun _ a b => Leaf (add_q a b)).

Fixpoint scaled_v (w : weight) (v : value) : value :=
  match v with
  | Leaf a => Leaf (scaled w a)
  | Split p s yes no => Split p s (scaled_v w yes) (scaled_v w no)
  end.

(** ** The run of a verifier *)

(** What draws: the verifier a coin or a row; the drafter a child of [c]; after the last accepted token, [c], the
    verifier the next one of the text. *)
Inductive who := Coin | Drafter (c : word) | Next (c : word).

Inductive run :=
| Cut (p : polynomial) (s : signs) (yes no : run)      (** the sign of [p] is one of [s], or not *)
| Draw (by_ : who) (l : list (nat * (weight * run)))   (** a token, each with its weight *)
| Stop (c : word)                                      (** the text is [c], then the target's *)
| Never.                                               (** the cell is empty, or the weight zero *)

Section Size.
Variables (V : nat) (listed replacement : bool).

Definition entry (letter : nat) (c : word) (x : nat) : polynomial :=
  if S x =? V then minus one_p (total (map (fun y => variable (letter :: c ++ [y])) (seq 0 x)))
  else if x <? V then variable (letter :: c ++ [x]) else [].

(** Whether the drafter may draw a child of [c], one of [l], where [D] is drafted and [arities] are the numbers of
    children, level by level. *)
Definition drafts (F : cell) (arities : list nat) (D : list word) (c : word) (l : list (nat * (weight * run))) : bool :=
  let gone := if replacement then [] else filter (fun x => in_words (c ++ [x]) D) (seq 0 V) in
  let mass := minus one_p (total (map (entry 1 c) gone)) in
  (length (filter (fun d => existsb (fun x => same_word d (c ++ [x])) (seq 0 V)) D) <?
    length (filter (same_word c) D) * nth (length c) arities 0) &&
  no_zero F [mass] &&
  forallb (fun '(x, (w, _)) => (x <? V) && negb (is_in gone x) && same_q F (scaled w (mass, [])) (entry 1 c x, [])) l.

Fixpoint sampler (k : run) (arities : list nat) (D : list word) (up : list polynomial) (F : cell) : bool :=
  match k with
  | Cut p s yes no => parts F p s (fun F b => sampler (if b then yes else no) arities D up F)
  | Draw by_ l =>
      is_law F (map (fun b => fst (snd b)) l) &&
      let each arities D := forallb (fun '(x, ((_, (up, _)), k)) => sampler k arities (D x) up F) l in
      match by_ with
      | Coin => each arities (fun _ => D)
      | Drafter c => (listed || drafts F arities D c l) && each arities (fun x => (c ++ [x]) :: D)
      | Next c => (listed || in_words c D) && each [] (fun x => [c ++ [x]])
      end
  | Stop c => listed || in_words c D
  | Never => existsb (fun p => within (may_be F p) zero_only) up
  end.

(** The probability that the target's text after [c] goes on with [u]. *)
Fixpoint follows (c u : word) : polynomial :=
  match u with [] => one_p | x :: u => times (entry 0 c x) (follows (c ++ [x]) u) end.

(** The probability that the text begins with [u], if it is [c], and then the target's. *)
Definition begins (c u : word) : polynomial :=
  if same_word (firstn (length u) c) (firstn (length c) u) then follows c (skipn (length c) u) else [].

Fixpoint mean (u : word) (k : run) (F : cell) : value :=
  match k with
  | Cut p s yes no => split F p s (fun F b => mean u (if b then yes else no) F)
  | Draw _ l => fold_right (fun v w => add_v w v F) (Leaf ([], [])) (map (fun '(_, (w, k)) => scaled_v w (mean u k F)) l)
  | Stop c => Leaf (begins c u, [])
  | Never => Leaf ([], [])
  end.

Definition rows (letter n : nat) : list fact :=
  flat_map (fun c => map (fun x => (entry letter c x, not_below)) (seq 0 V)) (flat_map (words V) (seq 0 n)).
End Size.
End Clauses.

(** A proof of a size: [longest] is the length of the words whose probabilities are shown; [arities] are the numbers of
    children on the levels of a draft, which do not count where the drafts are [listed], drawn as the certificate says.
    [law] draws the text that is wanted, token by token: [Stop []] is the target's. *)
Inductive proof :=
  Proof (V longest : nat) (listed replacement : bool) (arities : list nat) (l : list clause) (steps : nat) (k law : run).

Definition check (K : proof) : bool :=
  let 'Proof V longest listed replacement arities l steps k law := K in
  forallb refuted l && on (learn l steps (rows V 0 longest ++ rows V 1 longest) ([], [])) true (fun F =>
    sampler l steps V listed replacement k arities [[]] [] F && sampler l steps V true true law [] [[]] [] F &&
    forallb (fun u => serves l steps (mean l steps V u law F) (mean l steps V u k F) F) (words V longest)).
End Over.
