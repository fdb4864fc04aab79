(** Lines of a certificate: what each JSON value means, and the checker of a whole file. *)

Require Import String List Arith Bool.
Require Import Certificate.
Import ListNotations.
Unset Elimination Schemes.
Local Open Scope string_scope.

Module Checker (N : NUMBER).
Module C := Certificate.Over N.
Import N C.

(** JSON, as the reader hands it over.  A text that is spelled as a rational is its number. *)
Inductive value :=
| Whole (n : nat) | Number (x : t) | Text (s : string)
| Items (l : list value) | Fields (l : list (string * value)).

Fixpoint field (name : string) (l : list (string * value)) : option value :=
  match l with
  | [] => None
  | (key, v) :: l => if String.eqb key name then Some v else field name l
  end.
Definition get (name : string) (v : value) : option value := match v with Fields l => field name l | _ => None end.

Definition andthen {A B} (m : option A) (f : A -> option B) : option B := match m with Some a => f a | None => None end.
Notation "'let?' x := m 'in' k" := (andthen m (fun x => k)) (at level 200, x pattern).

Fixpoint all {A B} (f : A -> option B) (l : list A) : option (list B) :=
  match l with
  | [] => Some []
  | a :: l => let? b := f a in let? bs := all f l in Some (b :: bs)
  end.

Definition items (v : value) : option (list value) := match v with Items l => Some l | _ => None end.
Definition whole (v : value) : option nat := match v with Whole n => Some n | _ => None end.
Definition number (v : value) : option t := match v with Number x => Some x | _ => None end.
Definition wholes (v : value) : option context := let? l := items v in all whole l.
Definition numbers (v : value) : option row := let? l := items v in all number l.

Definition pair {A B} (f : value -> option A) (g : value -> option B) (v : value) : option (A * B) :=
  match v with Items [a; b] => let? a := f a in let? b := g b in Some (a, b) | _ => None end.

Definition rows (v : value) : option table := let? l := items v in all (pair wholes numbers) l.

(** ** Drafts *)

Fixpoint shape_of (v : value) : option shape :=
  match v with
  | Items l => option_map Shape ((fix each (l : list value) := match l with
      | [] => Some []
      | v :: l => let? s := shape_of v in let? rest := each l in Some (s :: rest)
      end) l)
  | _ => None
  end.

Fixpoint height (s : shape) : nat :=
  match s with
  | Shape l => (fix most (l : list shape) := match l with [] => 0 | s :: l => Nat.max (S (height s)) (most l) end) l
  end.

(** A drafted tree: its children, each with its token. *)
Fixpoint tree_of (v : value) : option draft :=
  match v with
  | Items l => option_map Drafted ((fix each (l : list value) := match l with
      | [] => Some []
      | Items [Whole x; v] :: l => let? d := tree_of v in let? rest := each l in Some ((x, d) :: rest)
      | _ => None
      end) l)
  | _ => None
  end.

Definition shaped (how : drawing) (s : shape) : option (scheme * nat) := Some (Tree how s, height s).

Definition named (v : value) (s : string) : bool := match v with Text name => String.eqb name s | _ => false end.

Definition scheme_of (v : value) : option (scheme * nat) :=
  let? kind := get "kind" v in
  let depth := let? d := get "depth" v in whole d in
  let shape := let? s := get "shape" v in shape_of s in
  if named kind "chain" then let? d := depth in shaped Replacement (every 1 d)
  else if named kind "tree" then
    let? s := shape in let? again := get "replacement" v in
    shaped (if named again "true" then Replacement else NoReplacement) s
  else if named kind "top-k" then let? s := shape in shaped Top s
  else if named kind "greedy" then let? s := shape in shaped Greedy s
  else if named kind "stratified" then let? s := shape in shaped Strata s
  else if named kind "spechub" then let? d := depth in shaped Hub (every 2 d)
  else if named kind "paths" then
    let? d := depth in let? n := get "count" v in let? n := whole n in Some (Paths n d, d)
  else if named kind "listed" then
    let? d := depth in let? l := get "drafts" v in let? l := items l in
    let? l := all (pair number tree_of) l in Some (Listed l, d)
  else None.

Definition instance_of (v : value) : option instance :=
  let? V := get "vocab" v in let? V := whole V in
  let? p := get "target" v in let? p := rows p in
  let? q := get "proposal" v in let? q := rows q in
  let? s := get "draft" v in let? (s, d) := scheme_of s in
  Some (Instance V p q s d).

(** ** Verifications

    [[["p", K], ["r", L], ..]]: a coin or a draw, each outcome of positive probability with what follows;
    [{"again": c, "drafts": [K, ..]}]: another call; else the tokens of a text and, unless it is the target's, the row
    of its next token. *)

Fixpoint stop_of (l : list value) : option (context * row) :=
  match l with
  | Whole x :: l => let? (c, r) := stop_of l in Some (x :: c, r)
  | _ => let? r := all number l in Some ([], r)
  end.

Fixpoint verification_of (v : value) : option verification :=
  let each := fix each (l : list value) := match l with
    | [] => Some []
    | v :: l => let? k := verification_of v in let? rest := each l in Some (k :: rest)
    end in
  let outcomes := fix outcomes (l : list value) := match l with
    | [] => Some []
    | Items (Number m :: [v]) :: l =>
        let? k := verification_of v in let? rest := outcomes l in Some ((m, k) :: rest)
    | _ => None
    end in
  match v with
  | Items ((Items _ :: _) as l) => option_map Branch (outcomes l)
  | Items l => let? (c, r) := stop_of l in Some (Stop c (match r with [] => None | _ => Some r end))
  | Fields [(_, c); (_, Items l)] => let? c := wholes c in option_map (Again c) (each l)
  | _ => None
  end.

Definition certificate_of (v : value) : option certificate :=
  let? ks := get "drafts" v in let? ks := items ks in let? ks := all verification_of ks in
  let calls := match get "calls" v with Some (Whole n) => n | _ => 0 end in
  let mean := let? m := get "accepted" v in number m in
  match get "wrong" v with
  | None => Some (Certificate calls ks Lossless mean)
  | Some w =>
      let? u := get "prefix" w in let? u := wholes u in
      let? got := get "got" w in let? got := number got in
      let? want := get "want" w in let? want := number want in
      Some (Certificate calls ks (Wrong u got want) mean)
  end.

Definition coupling_of (v : value) : option coupling :=
  let? f := get "plan" v in let? f := items f in let? f := all numbers f in
  let? u := get "of drafts" v in let? u := numbers u in
  let? w := get "of blocks" v in let? w := numbers w in
  let? m := get "optimum" v in let? m := number m in
  Some (Coupling f u w m).

(** ** A file: an instance, laws on it, and so on *)

Inductive outcome :=
| Begun (I : instance)        (** an instance with sound rows *)
| Accepted (K : certificate)  (** a law of the last instance, found to be as the certificate says *)
| Optimal (c : coupling)      (** the optimum of the last instance *)
| Refused.

(** [now] is the last instance. *)
Definition line (now : option instance) (v : value) : outcome :=
  match get "vocab" v, now with
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
