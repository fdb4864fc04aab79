(** What the words of the verifiers' Python mean, over any kind of number: drafts, sequences, and errors.

    Code.v is written in these and in the row operations of Programs.v, by python_to_rocq (in tests).  A program
    gives [Some] of what the function returns, and [None] where Python raises; so does one that goes on for more
    rounds than its [fuel]. *)

Require Import List Arith Bool.
Require Import Programs Rules.
Import ListNotations.

Module Over (N : NUMBER).
Include Rules.Over N.

Definition Number := N.num.
Definition Row := row.
Definition Rows := context -> row.

(** one: The number 1 of the kind that fills the row `like`. *)
Definition one (like : Row) : Number := N.one.

(** [point], which is told a row of its kind. *)
Definition point_like (x : token) (like : Row) : Row := point x.

(** ** Errors *)

Definition raise {A} : program (option A) := Return None.
Definition done {A} (a : A) : program (option A) := Return (Some a).

(** What follows a value that may be missing, and what follows a call. *)
Definition get {A B} (a : option A) (rest : A -> program (option B)) : program (option B) :=
  match a with Some a => rest a | None => raise end.

Definition call {A B} (m : program (option A)) (rest : A -> program (option B)) : program (option B) :=
  bind m (fun a => get a rest).

(** ** Sequences *)

(** All but the last item, and the last. *)
Definition unsnoc {A} (l : list A) : option (list A * A) :=
  match rev l with [] => None | last :: before => Some (rev before, last) end.

Definition uncons {A} (l : list A) : option (A * list A) := match l with [] => None | x :: l => Some (x, l) end.
Definition last_of {A} (l : list A) : option A := option_map snd (unsnoc l).
Definition pairwise {A} (l : list A) : list (A * A) := combine l (tl l).
Definition nonempty {A} (l : list A) : bool := match l with [] => false | _ => true end.
Definition same_length {A B} (l : list A) (k : list B) : bool := length l =? length k.

(** ** Drafts (theory/draft.py) *)

Inductive Node := MakeNode (prefix : context) (proposal : Row) (children : list Node).

Definition prefix_of (n : Node) : context := let (c, _, _) := n in c.
Definition proposal_of (n : Node) : Row := let (_, r, _) := n in r.
Definition children_of (n : Node) : list Node := let (_, _, l) := n in l.
Definition token_of (n : Node) : option token := last_of (prefix_of n).

(** The tokens of nodes, and the first of them with a token. *)
Fixpoint tokens_in (l : list Node) : option (list token) :=
  match l with
  | [] => Some []
  | n :: l => match token_of n, tokens_in l with Some x, Some more => Some (x :: more) | _, _ => None end
  end.

Definition has_token (y : token) (n : Node) : bool := match token_of n with Some x => x =? y | None => false end.
Definition child_of (n : Node) (y : token) : option Node := find (has_token y) (children_of n).

Record Draft := { root_of : Node; replacement_of : bool }.

Definition Stop := (Node * Row)%type.
Definition Path := list Node.

(** The path of first children. *)
Fixpoint first_path (n : Node) : list Node :=
  n :: match n with MakeNode _ _ (child :: _) => first_path child | _ => [] end.

Definition path_of (draft : Draft) : list Node := first_path (root_of draft).

(** ** Plans of the priority rule (theory/verifiers/shared/priority.py), where siblings are i.i.d. *)

Record Plan := { steps_of : list (token * list Number); left_of : Row }.

Definition planned_at (V : nat) (draft : Draft) (n : Node) (t : Row) : Plan :=
  let found := planned (by_ratio V) (repeat (proposal_of n) (length (children_of n))) t in
  {| steps_of := fst found; left_of := snd found |}.

(** The drafted children in the order in which they are judged, each with its rate. *)
Definition judged_at (x : token) (children : list Node) (rates : list Number) : list (Node * Number) :=
  filter (fun pair => has_token x (fst pair)) (combine children rates).

Definition judged_of (plan : Plan) (n : Node) : list (Node * Number) :=
  flat_map (fun step => judged_at (fst step) (children_of n) (snd step)) (steps_of plan).

(** ** One iteration of a verifier *)

Section Iteration.
Variables p q : context -> row.
Variable at_leaf : context -> row.  (** in the place of a leaf's proposal, which is None *)

(** The nodes that a drafting scheme makes of the children it drew. *)
Fixpoint nodes (d : children) (c : context) : list Node :=
  match d with
  | NoChild => []
  | Child x below rest =>
      let c' := c ++ [x] in
      MakeNode c' (match below with NoChild => at_leaf c' | _ => q c' end) (nodes below c') :: nodes rest c
  end.

Definition node_at (d : children) (c : context) : Node :=
  MakeNode c (match d with NoChild => at_leaf c | _ => q c end) (nodes d c).

(** As many rounds as the draft has nodes are enough. *)
Fixpoint size (d : children) : nat := match d with NoChild => 1 | Child _ below rest => size below + size rest end.

Definition stop_of (found : option Stop) : option stop :=
  match found with Some (node, r) => Some (prefix_of node, r) | None => None end.

Definition run_code (verify : nat -> Draft -> Rows -> program (option Stop)) (replacement : bool)
    (draft : program children) (c : context) : program (option stop) :=
  bind draft (fun d =>
    bind (verify (size d) {| root_of := node_at d c; replacement_of := replacement |} p)
      (fun found => Return (stop_of found))).

End Iteration.

End Over.
