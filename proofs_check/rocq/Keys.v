(** Coins with names: if no name is read twice, keyed coins give the law of fresh ones.

    A watermark's coin is a function of a key and of a context, its name.  Over all keys a name is a random
    variable that is drawn when it is first read (theory/shared/coins.py); what later readings give depends on
    what earlier ones gave.  How it does is left open here: all that counts is that an unread name draws from the
    row that it is asked with.  The rule, the verifier and the number of calls are left open, too. *)

Require Import Reals Lra List.
Require Import Programs Numbers Means.
Import ListNotations RealPrograms.
Open Scope R_scope.

Section Keys.
Variable V : nat.
Variable name : Type.
Variable same : forall a b : name, {a = b} + {a <> b}.

(** A program whose choices may carry a name. *)
Inductive keyed (A : Type) : Type :=
| Result (result : A)
| Draw (n : option name) (r : row) (rest : token -> keyed A)
| Toss (n : option name) (probability : R) (rest : bool -> keyed A).

Arguments Result {A}.
Arguments Draw {A}.
Arguments Toss {A}.

(** What a name has given: the question and the answer. *)
Inductive reading := Drew (r : row) (x : token) | Tossed (probability : R) (side : bool).

(** The law of the next answer, given what the name gave before. *)
Variable drawn : list reading -> row -> row.
Variable tossed : list reading -> R -> R.
Hypothesis drawn_unread : forall r x, drawn [] r x = r x.
Hypothesis tossed_unread : forall a, tossed [] a = a.

Definition memory := list (name * reading).

Fixpoint known (h : memory) (n : name) : list reading :=
  match h with
  | [] => []
  | (m, reading) :: h => if same m n then reading :: known h n else known h n
  end.

(** The program with keyed coins, over all keys. *)
Fixpoint run {A} (h : memory) (m : keyed A) : program A :=
  match m with
  | Result result => Return result
  | Draw None r rest => Choose r (fun x => run h (rest x))
  | Draw (Some n) r rest => Choose (drawn (known h n) r) (fun x => run ((n, Drew r x) :: h) (rest x))
  | Toss None a rest => Accept a (fun b => run h (rest b))
  | Toss (Some n) a rest => Accept (tossed (known h n) a) (fun b => run ((n, Tossed a b) :: h) (rest b))
  end.

(** The same with fresh coins. *)
Fixpoint fresh {A} (m : keyed A) : program A :=
  match m with
  | Result result => Return result
  | Draw _ r rest => Choose r (fun x => fresh (rest x))
  | Toss _ a rest => Accept a (fun b => fresh (rest b))
  end.

(** No run reads a name twice, or one that was read before. *)
Fixpoint once {A} (read : list name) (m : keyed A) : Prop :=
  match m with
  | Result _ => True
  | Draw None _ rest => forall x, once read (rest x)
  | Draw (Some n) _ rest => ~ In n read /\ forall x, once (n :: read) (rest x)
  | Toss None _ rest => forall b, once read (rest b)
  | Toss (Some n) _ rest => ~ In n read /\ forall b, once (n :: read) (rest b)
  end.

Lemma nothing_known : forall h n, ~ In n (map fst h) -> known h n = [].
Proof.
  induction h as [|[m reading] h IH]; simpl; intros n N; auto.
  destruct (same m n) as [E|_]; [exfalso; apply N; left; exact E | apply IH; intros I; apply N; right; exact I].
Qed.

Theorem read_once_from : forall A (m : keyed A) h f, once (map fst h) m -> mean V (run h m) f = mean V (fresh m) f.
Proof.
  intros A m. induction m as [result | [n|] r rest IH | [n|] a rest IH]; intros h f O; simpl in *.
  - reflexivity.
  - destruct O as [N O]. rewrite (nothing_known h n N). apply total_ext. intros x.
    rewrite drawn_unread. f_equal. apply IH. simpl. apply O.
  - apply total_ext. intros x. f_equal. apply IH. apply O.
  - destruct O as [N O]. rewrite (nothing_known h n N), tossed_unread.
    rewrite !IH by (simpl; apply O). reflexivity.
  - rewrite !IH by apply O. reflexivity.
Qed.

(** Whatever is asked of the result, it has the mean of fresh coins. *)
Theorem read_once : forall A (m : keyed A) f, once [] m -> mean V (run [] m) f = mean V (fresh m) f.
Proof. intros. apply read_once_from. assumption. Qed.

End Keys.
