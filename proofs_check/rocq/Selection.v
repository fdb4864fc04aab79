(** Which drafted tokens are verified may be decided by the tokens before them, in a batch of requests too.

    A verifier is fair if one more drafted token does not change, on average, what it emits.  Token and block
    verification are.  The text of a fair verifier keeps its law whatever rule ends the draft, and the texts of a
    batch keep their joint law, whatever scheduler divides the drafted tokens among the requests, as long as
    whether a token is drafted is decided before its value is known. *)

Require Import Reals Lra List Arith.
Require Import Programs Numbers Means Lossless Traversal RecursiveRejection Chains BlockOptimal.
Import ListNotations RealPrograms.
Open Scope R_scope.

(** ** One request *)

Section Request.
Variable V : nat.
Variables p q : context -> row.
Hypothesis p_rows : forall c, is_row V (p c).
Hypothesis q_rows : forall c, is_row V (q c).
Notation total := (total V).
Notation mean := (mean V).

Definition stopped (found : option stop) : R := match found with Some _ => 1 | None => 0 end.

(** The mean of [f] is [v] without drafted tokens, and one drafted token more does not change it. *)
Definition steady (c : context) (verify : list token -> program (option stop)) (f : option stop -> R) (v : R) : Prop :=
  mean (verify []) f = v /\
  forall path, mean (verify path) f = total (fun x => q (c ++ path) x * mean (verify (path ++ [x])) f).

Definition fair (c : context) (verify : list token -> program (option stop)) : Prop :=
  (forall G, harmonic V p G -> steady c verify (emitted_if V G) (G c)) /\ steady c verify stopped 1.

(** A draft may be cut after it is drawn, where the rule would have ended it. *)
Lemma kept_drawn : forall keep A depth (verify : list token -> program A) c f,
  mean (bind (draw_chain q depth c) (fun path => verify (kept keep path c))) f =
  mean (bind (draw_kept q keep depth c) verify) f.
Proof.
  intros keep A. induction depth as [|depth IH]; intros verify c f; simpl; auto.
  destruct (keep c) eqn:K; simpl.
  - apply total_ext. intros x. f_equal. pose proof (IH (fun path => verify (x :: path)) (c ++ [x]) f) as E.
    rewrite !mean_bind in *. simpl. rewrite <- E. apply mean_ext. intros path. rewrite K. auto.
  - rewrite (total_ext V _ (fun x => q c x * mean (verify []) f)).
    + rewrite total_mul_right. destruct (q_rows c) as [_ ->]. lra.
    + intros x. f_equal. rewrite !mean_bind. simpl. rewrite K. apply (mean_const V _ _ _ _ (chain_proper V q q_rows _ _)).
Qed.

Lemma steady_kept : forall keep depth c verify f v, steady c verify f v ->
  mean (bind (draw_chain q depth c) (fun path => verify (kept keep path c))) f = v.
Proof.
  intros keep depth c verify f v [F0 F1]. rewrite kept_drawn, <- F0.
  assert (K : forall n path, mean (draw_kept q keep n (c ++ path)) (fun more =>
              mean (verify (path ++ more)) f) = mean (verify path) f).
  { intros n. induction n as [|less IH]; intros path; simpl; [rewrite app_nil_r; auto|].
    destruct (keep (c ++ path)); simpl; [|rewrite app_nil_r; auto].
    rewrite F1. apply total_ext. intros x. f_equal. rewrite <- IH, mean_bind, app_assoc. apply mean_ext.
    intros more. simpl. rewrite <- app_assoc. auto. }
  specialize (K depth []). rewrite app_nil_r in K. rewrite mean_bind. exact K.
Qed.

(** The text keeps its law, and there always is a stop. *)
Theorem selection_lossless : forall keep depth c verify, fair c verify ->
  let iteration := bind (draw_chain q depth c) (fun path => verify (kept keep path c)) in
  (forall G, harmonic V p G -> mean iteration (emitted_if V G) = G c) /\ mean iteration stopped = 1.
Proof. intros keep depth c verify [F S]. split; intros; apply steady_kept; auto. Qed.

Theorem token_fair : forall c, fair c (fun path => always_stops (token_verify V p q path c)).
Proof.
  intros c. split.
  2: { assert (One : forall path d, mean (always_stops (token_verify V p q path d)) stopped = 1).
       { intros path d. unfold always_stops. rewrite mean_bind. simpl. revert d.
         induction path as [|x path IH]; intros d; simpl; auto. rewrite IH. lra. }
       split; intros; rewrite One; auto. rewrite (total_ext V _ (fun x => q (c ++ path) x)) by (intros; rewrite One; lra).
       symmetry. apply q_rows. }
  intros G HG.
  assert (E : forall path c, mean (always_stops (token_verify V p q path c)) (emitted_if V G) =
                             mean (token_verify V p q path c) (emitted V G)) by (intros; apply mean_bind).
  split; [rewrite E; simpl; rewrite (HG c); auto|].
  intros path. rewrite E, (total_ext V _ (fun x => q (c ++ path) x *
    mean (token_verify V p q (path ++ [x]) c) (emitted V G))) by (intros; rewrite E; auto).
  clear E. revert c. induction path as [|y path IH]; intros c.
  - rewrite app_nil_r. pose proof (token_lossless V p q p_rows q_rows 1 c G HG) as L.
    simpl in *. rewrite L, (HG c). auto.
  - simpl. rewrite IH, <- app_assoc. simpl. set (rejection := (1 - share (p c y) (q c y)) * _).
    symmetry. rewrite (total_ext V _ (fun x => share (p c y) (q c y) * (q (c ++ y :: path) x *
      mean (token_verify V p q (path ++ [x]) (c ++ [y])) (emitted V G)) + q (c ++ y :: path) x * rejection))
      by (intros; simpl; ring).
    rewrite total_add, total_mul, total_mul_right. destruct (q_rows (c ++ y :: path)) as [_ ->]. ring.
Qed.

Lemma or_else_emitted : forall G m other,
  mean (bind m (fun found => match found with Some s => Return (Some s) | None => other end)) (emitted_if V G) =
  mean m (emitted_if V G) + mean other (emitted_if V G) * mean m rejected.
Proof. intros. rewrite mean_bind, <- split_emitted. apply mean_ext. intros [s|]; auto. Qed.

Lemma or_else_rejected : forall m other,
  mean (bind m (fun found => match found with Some s => Return (Some s) | None => other end)) rejected =
  mean other rejected * mean m rejected.
Proof. intros. rewrite mean_bind, <- split_rejected. apply mean_ext. intros [s|]; auto. Qed.

Theorem block_fair : forall c, fair c (fun path => block_verify V p q path c).
Proof.
  intros c.
  assert (K : forall G, harmonic V p G -> forall path c w, 0 <= w <= 1 ->
    mean (block_below V p q path c w) (emitted_if V G) =
      total (fun x => q (c ++ path) x * mean (block_below V p q (path ++ [x]) c w) (emitted_if V G)) /\
    mean (block_below V p q path c w) rejected =
      total (fun x => q (c ++ path) x * mean (block_below V p q (path ++ [x]) c w) rejected)).
  { clear c. intros G HG. induction path as [|y path IH]; intros c w W.
    - rewrite app_nil_r.
      assert (B : forall f, total (fun x => q c x * mean (block_below V p q [x] c w) f) =
                            mean (subtree V p q true (chain q 1 c) c w (p c) (q c)) f).
      { intros f. rewrite <- block_from_subtree. reflexivity. }
      destruct (subtree_stops V p q true p_rows G HG c (q c) _ (chain_sampled V q q_rows true 1 c) w (p c)) as [S1 S2];
        [split; [auto|right; apply p_rows]|].
      simpl app. rewrite !B, S1, S2. simpl. split; [|ring]. rewrite Rmult_0_r, Rplus_0_r, <- total_mul.
      apply total_ext. intros; ring.
    - destruct (IH (c ++ [y]) (share (w * p c y) (q c y))) as [K1 K2].
      { apply share_bounds, Rmult_le_pos; [lra|apply p_rows]. }
      rewrite <- app_assoc in K1, K2. simpl in K1, K2. cbn [app block_below]. set (own := Accept _ _).
      rewrite or_else_emitted, or_else_rejected, K1, K2, <- total_mul, <- total_add, <- total_mul.
      split; apply total_ext; intros x; [rewrite or_else_emitted|rewrite or_else_rejected]; ring. }
  split.
  - intros G HG. split; [|intros path; apply K; auto; lra]. unfold block_verify. simpl. rewrite (HG c). ring.
  - assert (One : forall path d w, mean (block_below V p q path d w) stopped = 1 - mean (block_below V p q path d w) rejected).
    { intros path d w. transitivity (mean (block_below V p q path d w) (fun found => 1 - rejected found)).
      - apply mean_ext. intros [s|]; simpl; lra.
      - rewrite mean_sub. f_equal. revert d w. induction path as [|x path IH]; intros d w; simpl; [ring|].
        rewrite mean_bind, (mean_ext V _ _ _ (fun _ => 1)); auto. intros [s|]; simpl; ring. }
    split; intros; unfold block_verify; rewrite One; [simpl; ring|].
    destruct (K _ (harmonic_one V p p_rows) path c 1) as [_ ->]; [lra|]. destruct (q_rows (c ++ path)) as [_ S].
    rewrite <- S at 1. rewrite <- total_sub. apply total_ext. intros x. rewrite One. ring.
Qed.

End Request.

(** ** A batch *)

Section Batch.
Variable V : nat.
Variables p q : nat -> context -> row.  (** each request's target and proposal *)
Variable start : nat -> context.
Hypothesis q_rows : forall r c, is_row V (q r c).
Notation total := (total V).
Notation mean := (mean V).

(** What is drafted so far, and which request the scheduler has draft the next token, if any. *)
Definition drafted := nat -> list token.
Variable schedule : drafted -> option nat.

Definition extend (paths : drafted) (r : nat) (x : token) : drafted :=
  fun s => if (s =? r)%nat then paths s ++ [x] else paths s.

Fixpoint draft (steps : nat) (paths : drafted) : program drafted :=
  match steps with
  | O => Return paths
  | S fewer =>
      match schedule paths with
      | Some r => Choose (q r (start r ++ paths r)) (fun x => draft fewer (extend paths r x))
      | None => Return paths
      end
  end.

Variable verify : nat -> list token -> program (option stop).

(** Every request verifies its own path. *)
Fixpoint verify_all (requests : list nat) (paths : drafted) : program (list (option stop)) :=
  match requests with
  | [] => Return []
  | r :: rest => bind (verify r (paths r)) (fun found =>
                 bind (verify_all rest paths) (fun others => Return (found :: others)))
  end.

Definition product (requests : list nat) (value : nat -> R) : R :=
  fold_right (fun r rest => value r * rest) 1 requests.

Variable G : nat -> context -> R.

(** The product of one quantity a request. *)
Fixpoint all (f : nat -> option stop -> R) (requests : list nat) (found : list (option stop)) : R :=
  match requests, found with r :: requests, s :: found => f r s * all f requests found | _, _ => 1 end.

Definition emitted_all : list nat -> list (option stop) -> R := all (fun r => emitted_if V (G r)).
Definition stopped_all : list nat -> list (option stop) -> R := all (fun _ => stopped).

Lemma mean_verify_all : forall f requests paths,
  mean (verify_all requests paths) (all f requests) = product requests (fun r => mean (verify r (paths r)) (f r)).
Proof.
  intros f. induction requests as [|r rest IH]; intros paths; simpl; auto. rewrite mean_bind, <- IH.
  rewrite (mean_ext V _ _ _ (fun found => mean (verify_all rest paths) (all f rest) * f r found)).
  - rewrite mean_mul. ring.
  - intros found. rewrite mean_bind. simpl. rewrite mean_mul. ring.
Qed.

Lemma product_ext : forall requests f g, (forall r, In r requests -> f r = g r) -> product requests f = product requests g.
Proof. induction requests as [|r rest IH]; simpl; intros f g E; auto. rewrite (E r), (IH f g); auto. Qed.

(** A token for one request is, on average, without consequence for the product. *)
Lemma product_step : forall (value : nat -> list token -> R) r paths requests, NoDup requests ->
  value r (paths r) = total (fun x => q r (start r ++ paths r) x * value r (paths r ++ [x])) ->
  total (fun x => q r (start r ++ paths r) x * product requests (fun s => value s (extend paths r x s))) =
  product requests (fun s => value s (paths s)).
Proof.
  intros value r paths requests N E. induction N as [|s rest I N IH]; simpl.
  - rewrite total_mul_right. destruct (q_rows r (start r ++ paths r)) as [_ ->]. ring.
  - unfold extend at 1. destruct (Nat.eqb_spec s r) as [->|D].
    + rewrite E, <- total_mul_right. apply total_ext. intros x. rewrite <- Rmult_assoc. f_equal.
      apply product_ext. intros s K. unfold extend. destruct (Nat.eqb_spec s r) as [->|]; [contradiction|auto].
    + rewrite <- IH, <- total_mul. apply total_ext. intros x. ring.
Qed.

Lemma steady_all : forall f v steps requests, NoDup requests -> (forall r, steady V (q r) (start r) (verify r) (f r) (v r)) ->
  mean (bind (draft steps (fun _ => [])) (verify_all requests)) (all f requests) = product requests v.
Proof.
  intros f v steps requests N F. set (value := fun r path => mean (verify r path) (f r)).
  assert (D : forall n paths, mean (bind (draft n paths) (verify_all requests)) (all f requests) =
                                  product requests (fun r => value r (paths r))).
  { intros n. induction n as [|fewer IH]; intros paths; simpl; [apply mean_verify_all|].
    destruct (schedule paths) as [r|]; simpl; [|apply mean_verify_all].
    rewrite (total_ext V _ (fun x => q r (start r ++ paths r) x *
      product requests (fun s => value s (extend paths r x s)))) by (intros; rewrite IH; auto).
    apply product_step; auto. apply F. }
  rewrite D. apply product_ext. intros r _. apply F.
Qed.

(** The texts keep their joint law, and every request always stops. *)
Theorem batch_lossless : forall steps requests, NoDup requests -> (forall r, harmonic V (p r) (G r)) ->
  (forall r, fair V (p r) (q r) (start r) (verify r)) ->
  let iteration := bind (draft steps (fun _ => [])) (verify_all requests) in
  mean iteration (emitted_all requests) = product requests (fun r => G r (start r)) /\
  mean iteration (stopped_all requests) = 1.
Proof.
  intros steps requests N HG F iteration. split.
  - apply steady_all; auto. intros r. apply F. auto.
  - unfold iteration, stopped_all. rewrite (steady_all _ (fun _ => 1)); auto; [|intros r; apply F].
    clear N iteration. induction requests as [|r rest IH]; simpl; auto. rewrite IH. lra.
Qed.

End Batch.

(** ** Lossless at every fixed depth is not enough

    The rule below stops at the root with the token that was not drafted, unless it sees one token only.  With two
    equally likely tokens it is lossless for every number of drafted tokens, but not where the draft ends after
    token 0 and goes on after token 1. *)

Section FixedDepth.

Definition half : context -> row := fun _ _ => / 2.
Definition other (x : token) : row := fun y => if (y =? x)%nat then 0 else 1.

Definition contrary (path : list token) : program (option stop) :=
  match path with
  | x :: _ :: _ => Return (Some ([], other x))
  | _ => Return (Some (path, half path))
  end.

Definition goes_on (c : context) : bool := match c with [] => true | x :: _ => (x =? 1)%nat end.

Lemma half_row : forall c, is_row 2 (half c).
Proof. intros c. split; intros; unfold half, total; simpl; lra. Qed.

Lemma contrary_lossless : forall depth, lossless_if 2 half [] (bind (draw_chain half depth []) contrary).
Proof.
  assert (C : forall n c v, mean 2 (draw_chain half n c) (fun _ => v) = v)
    by (intros; apply (mean_const 2 _ _ _ _ (chain_proper 2 half half_row _ _))).
  assert (D : forall n x f v, (forall y path, f (x :: y :: path) = v) ->
    mean 2 (draw_chain half (S n) [x]) (fun path => f (x :: path)) = v).
  { intros n x f v E. cbn [draw_chain mean]. rewrite (total_ext 2 _ (fun y => half [x] y * v)).
    - rewrite total_mul_right. destruct (half_row [x]) as [_ ->]. lra.
    - intros y. f_equal. rewrite mean_bind, (mean_ext 2 _ _ _ (fun _ => v)); [apply C|intros path; apply E]. }
  intros [|[|depth]]; split.
  - intros G HG. rewrite (HG []). reflexivity.
  - reflexivity.
  - intros G HG. rewrite (HG []). simpl. apply total_ext. intros x. f_equal. symmetry. apply (HG [x]).
  - simpl. unfold total, half. simpl. lra.
  - intros G HG. rewrite (HG []).
    change (total 2 (fun x => half [] x * mean 2 (bind (bind (draw_chain half (S depth) [x])
      (fun path => Return (x :: path))) contrary) (emitted_if 2 G)) = total 2 (fun y => half [] y * G [y])).
    rewrite (total_ext 2 _ (fun x => half [] x * total 2 (fun y => other x y * G [y]))).
    + unfold total, half, other. simpl. lra.
    + intros x. f_equal. rewrite !mean_bind.
      apply (D depth x (fun path => mean 2 (contrary path) (emitted_if 2 G))). reflexivity.
  - change (total 2 (fun x => half [] x * mean 2 (bind (bind (draw_chain half (S depth) [x])
      (fun path => Return (x :: path))) contrary) rejected) = 0).
    rewrite (total_ext 2 _ (fun x => half [] x * 0)); [rewrite total_mul_right; ring|].
    intros x. f_equal. rewrite !mean_bind.
    apply (D depth x (fun path => mean 2 (contrary path) rejected)). reflexivity.
Qed.

Theorem fixed_depth_is_not_enough : ~ lossless_if 2 half [] (bind (draw_kept half goes_on 2 []) contrary).
Proof.
  intros [L _]. assert (K : forall x, In x [0%nat] -> In x (vocabulary 2)) by (simpl; intros x [<-|[]]; auto).
  specialize (L _ (reach_harmonic 2 half half_row [0%nat] K)). revert L.
  simpl. repeat (unfold total, half, other; simpl). lra.
Qed.

End FixedDepth.
