(** The chances that [balance] finds: of affinely independent rows, those whose mean is nearest to 0. *)

Require Import Reals Lra Lia List Arith Bool.
Require Import Programs Numbers Means Lossless Elimination Optimal OptimalOrders.
Import ListNotations RealPrograms.
Open Scope R_scope.

Notation summed := (fold_right Rplus 0).

Fixpoint comb (cs : list R) (rows : list row) : row :=
  match cs, rows with c :: cs, v :: rows => fun x => c * v x + comb cs rows x | _, _ => fun _ => 0 end.

Lemma total_first : forall n f, total (S n) f = f 0%nat + total n (fun i => f (S i)).
Proof.
  intros n f. unfold total, vocabulary. simpl. f_equal. rewrite <- seq_shift.
  induction (seq 0 n) as [|i l IH]; simpl; auto. f_equal. auto.
Qed.

Lemma comb_total : forall rows cs d x, length cs = length rows ->
  comb cs rows x = total (length rows) (fun k => nth k cs 0 * nth k rows d x).
Proof.
  induction rows as [|v rows IH]; intros [|c cs] d x L; try discriminate; [reflexivity|].
  injection L as L. change (length (v :: rows)) with (S (length rows)). rewrite total_first. simpl.
  rewrite (IH cs d x L). auto.
Qed.

Lemma summed_total : forall cs, summed cs = total (length cs) (fun k => nth k cs 0).
Proof. induction cs as [|c cs IH]; [reflexivity|]. change (length (c :: cs)) with (S (length cs)). rewrite total_first.
  simpl. rewrite IH. auto. Qed.

Lemma summed_last : forall cs e, summed (cs ++ [e]) = summed cs + e.
Proof. induction cs as [|c cs IH]; intros e; simpl; [ring|]. rewrite IH. ring. Qed.

Section Balance.
Variable V : nat.
Variable Rs : list row.
Notation pi := (included Rs).
Notation drawable := (drawable V Rs).
Notation scalar := (scalar V Rs).

(** ** The scalar product *)

Lemma scalar_sym : forall u v, scalar u v = scalar v u.
Proof. intros u v. rewrite !scalar_over. apply over_ext. intros x _. unfold Rdiv. ring. Qed.

Lemma scalar_ext : forall u u' v v', (forall x, u x = u' x) -> (forall x, v x = v' x) -> scalar u v = scalar u' v'.
Proof. intros u u' v v' U W. rewrite !scalar_over. apply over_ext. intros x _. rewrite U, W. auto. Qed.

Lemma scalar_linear : forall a b u w v, scalar (fun x => a * u x + b * w x) v = a * scalar u v + b * scalar w v.
Proof.
  intros a b u w v. rewrite !scalar_over, <- !over_mul, <- over_add. apply over_ext. intros x _. unfold Rdiv. ring.
Qed.

Lemma scalar_zero : forall v, scalar (fun _ => 0) v = 0.
Proof.
  intros v. rewrite (scalar_ext _ (fun x => 0 * v x + 0 * v x) v v) by (intros; ring). rewrite scalar_linear. ring.
Qed.

Lemma squares : forall u x, In x drawable -> 0 <= u x * u x / pi x.
Proof.
  intros u x I. apply drawable_in in I as [_ P]. apply Rmult_le_pos; [nra|]. left. apply Rinv_0_lt_compat. auto.
Qed.

Lemma over_nonneg : forall l f, (forall x, In x l -> 0 <= f x) -> 0 <= over l f.
Proof.
  induction l as [|y l IH]; simpl; intros f N; [lra|]. specialize (IH f (fun x I => N x (or_intror I))).
  pose proof (N y (or_introl eq_refl)). lra.
Qed.

Lemma scalar_nonneg : forall u, 0 <= scalar u u.
Proof. intros u. rewrite scalar_over. apply over_nonneg. apply squares. Qed.

Lemma scalar_null : forall u v, scalar u u = 0 -> scalar u v = 0.
Proof.
  intros u v Z. rewrite scalar_over in *. rewrite (over_ext _ _ (fun x => 0 * 0)); [rewrite over_mul; ring|]. intros x I.
  assert (U : u x = 0); [|rewrite U; unfold Rdiv; ring]. assert (Q : u x * u x / pi x = 0).
  { pose proof (squares u) as N. revert I Z N. generalize drawable.
    induction l as [|y l IH]; simpl; intros I Z N; [destruct I|].
    assert (0 <= over l (fun x => u x * u x / pi x)) by (apply over_nonneg; auto). pose proof (N y (or_introl eq_refl)).
    destruct I as [->|I]; [lra|]. apply IH; auto. lra. }
  apply drawable_in in I as [_ P]. apply Rmult_integral in Q as [Q|Q]; [nra|]. pose proof (Rinv_0_lt_compat _ P). lra.
Qed.

Lemma scalar_total : forall n (y : nat -> R) (e : nat -> row) v,
  scalar (fun x => total n (fun k => y k * e k x)) v = total n (fun k => y k * scalar (e k) v).
Proof.
  intros n y e v. unfold total. induction (vocabulary n) as [|k l IH]; simpl; [apply scalar_zero|].
  rewrite <- IH. rewrite <- (Rmult_1_l (scalar (fun x => fold_right _ _ _) v)), <- scalar_linear. apply scalar_ext; auto.
  intros x. simpl. ring.
Qed.

Lemma scalar_comb : forall v a rows cs, length cs = length rows -> Forall (fun r => scalar r v = a) rows ->
  scalar (comb cs rows) v = a * summed cs.
Proof.
  intros v a. induction rows as [|r rows IH]; intros [|c cs] L F; try discriminate; simpl; [rewrite scalar_zero; ring|].
  inversion F as [|? ? E F']; subst. injection L as L.
  rewrite (scalar_ext _ (fun x => c * r x + 1 * comb cs rows x) v v) by (intros; ring). rewrite scalar_linear, IH; auto.
  ring.
Qed.

(** ** The balance of independent rows *)

(** Affine: no change of chances of sum 0 leaves the mean where it is. *)
Definition independent (rows : list row) : Prop := forall cs, length cs = length rows -> summed cs = 0 ->
  scalar (comb cs rows) (comb cs rows) = 0 -> Forall (fun c => c = 0) cs.

Definition edge (first : row) (others : list row) (r : nat) : row := fun x => nth r others first x - first x.

Lemma comb_edges : forall first others c ys x, length ys = length others ->
  comb (c :: ys) (first :: others) x =
  (c + summed ys) * first x + total (length others) (fun k => nth k ys 0 * edge first others k x).
Proof.
  intros first others c ys x L. simpl. rewrite (comb_total others ys first x L), summed_total, L. unfold edge.
  rewrite (total_ext _ (fun k => nth k ys 0 * (nth k others first x - first x))
    (fun k => nth k ys 0 * nth k others first x - nth k ys 0 * first x)) by (intros; ring).
  rewrite total_sub, total_mul_right. ring.
Qed.

Theorem balance_balanced : forall rows, rows <> [] -> independent rows ->
  length (balance V Rs rows) = length rows /\ summed (balance V Rs rows) = 1 /\
  exists a, Forall (fun r => scalar r (comb (balance V Rs rows) rows) = a) rows.
Proof.
  intros [|first others] N I; [contradiction|]. clear N. set (n := length others). set (e := edge first others).
  set (A := fun r k => if (k <? n)%nat then scalar (e r) (e k) else 0 - scalar (e r) first). set (ys := solved n A).
  change (balance V Rs (first :: others)) with ((1 - summed ys) :: ys).
  assert (L : length ys = n) by (unfold ys, solved; rewrite map_length, seq_length; auto).
  assert (D : forall y, total n (fun k => y k * total n (fun j => y j * scalar (e j) (e k))) = 0 ->
  forall k, (k < n)%nat -> y k = 0).
  { intros y Z. set (zs := map y (seq 0 n)). assert (LZ : length zs = n) by (unfold zs; rewrite map_length, seq_length;
    auto).
    assert (NZ : forall k, (k < n)%nat -> nth k zs 0 = y k) by (intros; unfold zs; apply nth_mapped; auto).
    assert (Q : Forall (fun c => c = 0) ((- summed zs) :: zs)).
    { apply I; [simpl; rewrite LZ; auto|simpl; ring|].
      assert (U : forall x, comb (- summed zs :: zs) (first :: others) x = total n (fun k => y k * e k x)).
      { intros x. rewrite comb_edges by auto. rewrite (total_ext_in (length others) _ (fun k => y k * e k x)); [fold n;
        ring|].
        intros k K. apply known in K. rewrite NZ by auto. auto. }
      rewrite (scalar_ext _ _ _ _ U U), scalar_total. etransitivity; [|exact Z]. apply total_ext. intros k. f_equal.
      rewrite scalar_sym, scalar_total. auto. }
    inversion Q as [|? ? _ Q']; subst. intros k K. rewrite <- NZ by auto. rewrite Forall_forall in Q'. apply Q', nth_In.
    lia. }
  pose proof (solved_solves n _ D A) as S. assert (S' : solves n A (fun r => nth r ys 0)).
  { apply S. intros r k _ K. unfold A. apply Nat.ltb_lt in K. rewrite K. auto. }
  split; [simpl; rewrite L; auto|]. split; [simpl; ring|]. set (w := comb (1 - summed ys :: ys) (first :: others)).
  exists (scalar first w). constructor; auto.
  assert (W : forall x, w x = 1 * first x + 1 * total n (fun k => nth k ys 0 * e k x)) by (intros x; unfold w;
  rewrite comb_edges by auto; fold n e; ring).
  apply Forall_forall. intros v J. apply (In_nth _ _ first) in J as [r [K <-]].
  assert (Z : scalar (e r) w = 0).
  { rewrite scalar_sym, (scalar_ext _ _ _ (e r) W) by auto. rewrite scalar_linear, scalar_total, (scalar_sym first).
    pose proof (S' r K) as E. unfold A in E at 2. rewrite Nat.ltb_irrefl in E.
    rewrite (total_ext_in n (fun k => nth k ys 0 * scalar (e k) (e r)) (fun k => A r k * nth k ys 0)); [rewrite E; ring|].
    intros k J. apply known in J. unfold A. apply Nat.ltb_lt in J. rewrite J, (scalar_sym (e k)). ring. }
  rewrite (scalar_ext _ (fun x => 1 * e r x + 1 * first x) w w) by (intros; unfold e, edge; ring).
  rewrite scalar_linear, Z. ring.
Qed.

End Balance.
