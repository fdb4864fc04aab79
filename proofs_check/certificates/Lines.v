(** Lines of a certificate: what each JSON value means, and the checker of a whole file. *)

Require Import String List Arith Bool.
Require Import Certificate Cells.
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
Module D := Cells.Over N.
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

(** With the depth of the drafts. *)
Definition scheme_of (v : value) : option (scheme * nat) :=
  let? kind := get "kind" text v in
  let? s := get "shape" shape_of v in
  let tree how := Some (Tree how s) in
  let? made := field kind
    [("chain", tree Replacement); ("spechub", tree Hub); ("top-k", tree Top); ("greedy", tree Greedy);
     ("stratified", tree Strata);
     ("tree", tree NoReplacement); ("tree+", tree Replacement);
     ("paths", let? n := get "count" whole v in Some (Paths n s));
     ("listed", let? l := get "drafts" (list_of (pair number (list_of (list_of whole)))) v in Some (Listed l))] in
  let? made := made in Some (made, height s).

Definition instance_of (v : value) : option instance :=
  let? V := get "vocab" whole v in
  let? p := get "target" rows v in
  let? q := get "proposal" rows v in
  let? (s, d) := get "draft" scheme_of v in
  Some (Instance V p q s d).

(** ** Verifications

    [[["p", K], ["r", L], ..]]: a coin or a draw, each outcome of positive probability with what follows;
    [{"again": [c, [K, ..]]}]: another call; a word: nothing, which has no outcome; else the tokens of a text and, unless it is the target's, the row
    of its next token. *)

Definition stop_of (l : list value) : option verification :=
  let c := flat_map (fun v => match v with Whole x => [x] | _ => [] end) l in
  let? r := all number (skipn (length c) l) in Some (Stop c (match r with [] => None | _ => Some r end)).

Fixpoint verification_of (v : value) : option verification :=
  match v with
  | Items l => match stop_of l with None => option_map Branch (all (pair number verification_of) l) | stop => stop end
  | Fields ((_, v) :: _) =>
      let? (c, l) := pair (list_of whole) (list_of verification_of) v in Some (Again c l)
  | Text _ => Some (Branch [])
  | _ => None
  end.

Definition found_of {P} (prefix : value -> option P) (v : value) : option (wrong P) :=
  on (get "wrong" Some v) (Some None) (fun w =>
    let? u := get "prefix" prefix w in
    let? got := get "got" number w in
    let? want := get "want" number w in
    Some (Some (u, (got, want)))).

Definition certificate_of (v : value) : option certificate :=
  let? ks := get "drafts" (list_of verification_of) v in
  let? found := found_of (list_of whole) v in
  Some (Certificate (or_else (get "calls" whole v) 0) ks (on (get "invalid" Some v) false (fun _ => true)) found
    (get "accepted" number v)).

(** Of every tuple of drafts, that of the last request changing first, the verification of each request. *)
Definition batch_of (v : value) : option batch :=
  let? rs := get "requests" (list_of instance_of) v in
  let? ks := get "batch" (list_of (list_of verification_of)) v in
  let? found := found_of (list_of (list_of whole)) v in
  Some (Batch rs ks found).

Definition coupling_of (v : value) : option coupling :=
  let? u := get "of drafts" (list_of number) v in
  let? w := get "of blocks" (list_of number) v in
  let? m := get "optimum" number v in
  Some (Coupling (get "plan" (list_of (list_of number)) v) u w m).

(** ** Proofs of one size: polynomials are named by their places in a list *)

Section Polynomials.
Variable given : list D.polynomial.

Definition polynomial_of (v : value) : option D.polynomial := let? i := whole v in nth_error given i.
Definition fact_of : value -> option D.fact := pair polynomial_of (list_of whole).
Definition clause_of : value -> option D.clause :=
  pair (list_of fact_of) (fun v => on (text v) (option_map Some (list_of (pair number (list_of whole)) v)) (fun _ => Some None)).

Definition terms_of (v : value) : option D.polynomial :=
  let? l := list_of (pair number (list_of (list_of whole))) v in
  Some (D.total (map (fun '(c, a) => D.times [(c, [])] (D.product (map D.variable a))) l)).

(** [{"cut": [[p, s], [yes, no]]}]; [{"drafter": [c, [[x, [w, K]], ..]]}], likewise "next" and "coin" (with any c), where
    a weight w is [["1/2", [factors, divisors]]]; the tokens of a text; or what never happens, by any word. *)
Fixpoint run_of (v : value) : option D.run :=
  let drawn := list_of (pair whole (pair (pair number (pair (list_of polynomial_of) (list_of polynomial_of))) run_of)) in
  match v with
  | Fields ((key, v) :: _) =>
      if String.eqb key "cut" then
        let? ((p, s), (yes, no)) := pair fact_of (pair run_of run_of) v in Some (D.Cut p s yes no)
      else
        let? (c, l) := pair (list_of whole) drawn v in
        Some (D.Draw (if String.eqb key "drafter" then D.Drafter c else if String.eqb key "next" then D.Next c else D.Coin) l)
  | Items _ => option_map D.Stop (list_of whole v)
  | _ => Some D.Never
  end.
End Polynomials.

Definition proof_of (v : value) : option D.proof :=
  let? V := get "tokens" whole v in
  let? n := get "longest" whole v in
  let? given := get "polynomials" (list_of terms_of) v in
  let? ks := get "excluded" (list_of (clause_of given)) v in
  let? steps := get "steps" whole v in
  let? k := get "run" (run_of given) v in
  let children := get "children" (list_of whole) v in
  let again := or_else (get "replacement" text v) "true" in
  let law := or_else (get "law" (run_of given) v) (D.Stop []) in
  Some (D.Proof V n (on children true (fun _ => false)) (String.eqb again "true") (or_else children []) ks steps k law).

(** ** A file: an instance, laws on it, and so on *)

Inductive outcome :=
| Begun (I : instance)        (** an instance with sound rows *)
| Accepted (K : certificate)  (** a law of the last instance, found to be as the certificate says *)
| Optimal (c : coupling)      (** an optimum of the last instance, or a bound *)
| Joint (B : batch)           (** a joint law of requests *)
| Proved (K : D.proof).       (** a verifier at one size, for all rows *)

(** [now] is the last instance.  What is read as something that does not hold is refused: [None]. *)
Definition line (now : option instance) (v : value) : option outcome :=
  let read {A} (o : option A) (holds : A -> bool) (f : A -> outcome) := on o [] (fun a => [if holds a then Some (f a) else None]) in
  let on_it i := (read (certificate_of v) (check i) Accepted ++ read (coupling_of v) (check_optimum i) Optimal)%list in
  nth 0 (read (instance_of v) sound_instance Begun ++ read (batch_of v) check_batch Joint ++ read (proof_of v) D.check Proved ++ on now [] on_it)%list None.

End Checker.
