(** Lines of a certificate: what each JSON value means, and the checker of a whole file. *)

Require Import String List Arith Bool.
Require Import Certificate.
Import ListNotations.
Unset Elimination Schemes.
Local Open Scope string_scope.

Definition andthen {A B} (m : option A) (f : A -> option B) : option B := match m with Some a => f a | None => None end.
Notation "'let?' x := m 'in' k" := (andthen m (fun x => k)) (at level 200, x pattern).

Section All.
Context {A B : Type} (f : A -> option B).
Fixpoint all (l : list A) : option (list B) :=
  match l with
  | [] => Some []
  | a :: l => let? b := f a in let? bs := all l in Some (b :: bs)
  end.
End All.

Fixpoint field {A} (name : string) (l : list (string * A)) : option A :=
  match l with
  | [] => None
  | (key, v) :: l => if String.eqb key name then Some v else field name l
  end.

Module Checker (N : NUMBER).
Module C := Certificate.Over N.
Import N C.

(** JSON, as the reader hands it over.  A text that is spelled as a rational is its number. *)
Inductive value :=
| Whole (n : nat) | Number (x : t) | Text (s : string)
| Items (l : list value) | Fields (l : list (string * value)).

(** What stands at a key, read by [f]. *)
Definition get {A} (name : string) (f : value -> option A) (v : value) : option A :=
  let? w := match v with Fields l => field name l | _ => None end in f w.

Definition whole (v : value) : option nat := match v with Whole n => Some n | _ => None end.
Definition number (v : value) : option t := match v with Number x => Some x | _ => None end.
Definition text (v : value) : option string := match v with Text s => Some s | _ => None end.
Definition list_of {A} (f : value -> option A) (v : value) : option (list A) :=
  match v with Items l => all f l | _ => None end.
Definition pair {A B} (f : value -> option A) (g : value -> option B) (v : value) : option (A * B) :=
  match v with Items [a; b] => let? a := f a in let? b := g b in Some (a, b) | _ => None end.

Definition rows : value -> option table := list_of (pair (list_of whole) (list_of number)).

(** ** Drafts *)

Fixpoint shape_of (v : value) : option shape := option_map Shape (list_of shape_of v).

Fixpoint height (s : shape) : nat := match s with Shape l => fold_right Nat.max 0 (map (fun s => S (height s)) l) end.

(** A drafted tree: its children, each with its token. *)
Fixpoint tree_of (v : value) : option draft := option_map Drafted (list_of (pair whole tree_of) v).

Definition scheme_of (v : value) : option (scheme * nat) :=
  let? kind := get "kind" text v in
  let depth := get "depth" whole v in
  let shaped how s := let? s := s in Some (Tree how s, height s) in
  let drawn how := shaped how (get "shape" shape_of v) in
  let regular how n := shaped how (option_map (every n) depth) in
  if String.eqb kind "chain" then regular Replacement 1
  else if String.eqb kind "spechub" then regular Hub 2
  else if String.eqb kind "top-k" then drawn Top
  else if String.eqb kind "greedy" then drawn Greedy
  else if String.eqb kind "stratified" then drawn Strata
  else if String.eqb kind "tree" then
    let? again := get "replacement" text v in drawn (if String.eqb again "true" then Replacement else NoReplacement)
  else
    let? d := depth in
    if String.eqb kind "paths" then let? n := get "count" whole v in Some (Paths n d, d)
    else if String.eqb kind "listed" then let? l := get "drafts" (list_of (pair number tree_of)) v in Some (Listed l, d)
    else None.

Definition instance_of (v : value) : option instance :=
  let? V := get "vocab" whole v in
  let? p := get "target" rows v in
  let? q := get "proposal" rows v in
  let? (s, d) := get "draft" scheme_of v in
  Some (Instance V p q s d).

(** ** Verifications

    [[["p", K], ["r", L], ..]]: a coin or a draw, each outcome of positive probability with what follows;
    [{"again": [c, [K, ..]]}]: another call; else the tokens of a text and, unless it is the target's, the row
    of its next token. *)

Definition outcomes (v : value) : bool := match v with Items (Items _ :: _) => true | _ => false end.

Fixpoint stop_of (l : list value) : option (context * row) :=
  match l with
  | Whole x :: l => let? (c, r) := stop_of l in Some (x :: c, r)
  | _ => let? r := all number l in Some ([], r)
  end.

Fixpoint verification_of (v : value) : option verification :=
  match v with
  | Items l =>
      if outcomes v then option_map Branch (all (pair number verification_of) l)
      else let? (c, r) := stop_of l in Some (Stop c (match r with [] => None | _ => Some r end))
  | Fields ((_, v) :: _) =>
      let? (c, l) := pair (list_of whole) (list_of verification_of) v in Some (Again c l)
  | _ => None
  end.

Definition certificate_of (v : value) : option certificate :=
  let? ks := get "drafts" (list_of verification_of) v in
  let calls := match get "calls" whole v with Some n => n | None => 0 end in
  let mean := get "accepted" number v in
  match get "wrong" Some v with
  | None => Some (Certificate calls ks Lossless mean)
  | Some w =>
      let? u := get "prefix" (list_of whole) w in
      let? got := get "got" number w in
      let? want := get "want" number w in
      Some (Certificate calls ks (Wrong u got want) mean)
  end.

Definition coupling_of (v : value) : option coupling :=
  let? f := get "plan" (list_of (list_of number)) v in
  let? u := get "of drafts" (list_of number) v in
  let? w := get "of blocks" (list_of number) v in
  let? m := get "optimum" number v in
  Some (Coupling f u w m).

(** ** A file: an instance, laws on it, and so on *)

Inductive outcome :=
| Begun (I : instance)        (** an instance with sound rows *)
| Accepted (K : certificate)  (** a law of the last instance, found to be as the certificate says *)
| Optimal (c : coupling)      (** the optimum of the last instance *)
| Refused.

(** [now] is the last instance. *)
Definition line (now : option instance) (v : value) : outcome :=
  match get "vocab" Some v, now with
  | Some _, _ =>
      match instance_of v with Some i => if sound_instance i then Begun i else Refused | None => Refused end
  | None, Some i =>
      match certificate_of v, coupling_of v with
      | Some K, _ => if check i K then Accepted K else Refused
      | None, Some c => if check_optimum i c then Optimal c else Refused
      | None, None => Refused
      end
  | None, None => Refused
  end.

End Checker.
