(** How often the tokens of a set lead, in one order and in a law of orders: never more often than one of them is drafted,
    and just as often where they stand first. *)

Require Import Reals Lra Lia List Arith Bool Permutation.
Require Import Programs Numbers Means Lossless Priority Optimal.
Import ListNotations RealPrograms.
Open Scope R_scope.

(** ** Sums over lists of tokens *)

Definition over (l : list token) (f : row) : R := fold_right (fun x sum => f x + sum) 0 l.
Definition mem (X : list token) (y : token) : bool := existsb (Nat.eqb y) X.

Lemma mem_in : forall X y, mem X y = true <-> In y X.
Proof.
  intros X y. unfold mem. rewrite existsb_exists. split.
  - intros [x [I E]]. apply Nat.eqb_eq in E. subst. auto.
  - intros I. exists y. split; auto. apply Nat.eqb_refl.
Qed.

Lemma mem_out : forall X y, mem X y = false <-> ~ In y X.
Proof. intros X y. rewrite <- mem_in. destruct (mem X y); split; congruence || tauto. Qed.

Lemma over_app : forall k l f, over (k ++ l) f = over k f + over l f.
Proof. intros k l f. induction k as [|x k IH]; simpl; [lra|]. rewrite IH. lra. Qed.

Lemma over_perm : forall k l f, Permutation k l -> over k f = over l f.
Proof. intros k l f P. induction P; simpl; lra. Qed.

Lemma over_ext : forall l f g, (forall x, In x l -> f x = g x) -> over l f = over l g.
Proof. induction l as [|x l IH]; simpl; intros f g H; auto. rewrite (H x), (IH f g); auto. Qed.

Lemma over_le : forall l f g, (forall x, In x l -> f x <= g x) -> over l f <= over l g.
Proof. induction l as [|x l IH]; simpl; intros f g H; [lra|]. pose proof (H x (or_introl eq_refl)). specialize (IH f g).
  assert (over l f <= over l g) by auto. lra. Qed.

Lemma over_sub : forall l f g, over l (fun x => f x - g x) = over l f - over l g.
Proof. induction l as [|x l IH]; simpl; intros f g; [lra|]. rewrite IH. lra. Qed.

Lemma over_add : forall l f g, over l (fun x => f x + g x) = over l f + over l g.
Proof. induction l as [|x l IH]; simpl; intros f g; [lra|]. rewrite IH. lra. Qed.

Lemma over_mul : forall l a f, over l (fun x => a * f x) = a * over l f.
Proof. induction l as [|x l IH]; simpl; intros a f; [lra|]. rewrite IH. lra. Qed.

Lemma over_filter : forall (b : token -> bool) l f, over (filter b l) f = over l (fun x => if b x then f x else 0).
Proof. induction l as [|x l IH]; simpl; intros f; auto. destruct (b x); simpl; rewrite IH; lra. Qed.

Lemma placed : forall better l, Permutation (fold_right (place better) [] l) l.
Proof.
  assert (P : forall better x l, Permutation (place better x l) (x :: l)).
  { intros better x. induction l as [|y l IH]; simpl; auto. destruct (better y x); auto.
    apply (Permutation_trans (perm_skip y IH)), perm_swap. }
  intros better. induction l as [|x l IH]; simpl; auto. apply (Permutation_trans (P _ _ _)), perm_skip, IH.
Qed.

Lemma less_true : forall a b, Real.less a b = true <-> a < b.
Proof. intros a b. unfold Real.less. destruct (Rlt_dec a b); split; congruence || auto. Qed.

Lemma less_false : forall a b, Real.less a b = false <-> b <= a.
Proof. intros a b. unfold Real.less. destruct (Rlt_dec a b); split; intros; congruence || lra || auto. Qed.

Section Orders.
Variable V : nat.
Notation total := (total V).
Notation mean := (mean V).
Variable Rs : list row.
Hypothesis laws : Forall (is_row V) Rs.
Hypothesis some : Rs <> [].
Variable t : row.
Notation pi := (included Rs).
Notation drawable := (drawable V Rs).
Notation led_in := (led_in Rs).
Notation lacking := (lacking V Rs t).
Notation scalar := (scalar V Rs).
Notation off := Optimal.off.

Lemma drawable_in : forall x, In x drawable <-> In x (vocabulary V) /\ 0 < pi x.
Proof. intros x. unfold RealPrograms.drawable. rewrite filter_In.
  split; intros [A B]; split; auto; apply less_true; exact B. Qed.

Lemma drawable_once : NoDup drawable.
Proof. apply NoDup_filter, seq_NoDup. Qed.

Lemma included_nonneg : forall Ls x, Forall (is_row V) Ls -> 0 <= included Ls x.
Proof.
  intros Ls x F. induction F as [|R Ls [N _] F IH]; [apply Rle_refl|]. change (0 <= R x + included Ls x).
  specialize (N x). lra.
Qed.

Lemma included_zero : forall Ls x, Forall (is_row V) Ls -> ~ 0 < included Ls x -> forall R, In R Ls -> R x = 0.
Proof.
  intros Ls x F. induction F as [|R Ls [N _] F IH]; intros Z S I; [destruct I|].
  change (~ 0 < R x + included Ls x) in Z. pose proof (included_nonneg Ls x F). specialize (N x).
  destruct I as [->|I]; [lra|]. apply IH; auto. lra.
Qed.

Lemma pi_zero : forall x, ~ 0 < pi x -> forall R, In R Rs -> R x = 0.
Proof. intros x. apply included_zero. auto. Qed.

(** What is 0 at tokens that cannot be drawn is summed over the others. *)
Lemma total_drawable : forall f, (forall x, In x (vocabulary V) -> ~ 0 < pi x -> f x = 0) -> total f = over drawable f.
Proof.
  intros f Z. unfold RealPrograms.drawable. rewrite over_filter. apply (total_ext_in V). intros x I.
  change (f x = if Real.less 0 (pi x) then f x else 0). destruct (Real.less 0 (pi x)) eqn:E; [reflexivity|].
  apply less_false in E. apply Z; auto. lra.
Qed.

Lemma scalar_over : forall u v, scalar u v = over drawable (fun x => u x * v x / pi x).
Proof.
  intros u v. unfold RealPrograms.drawable. rewrite over_filter. reflexivity.
Qed.

Lemma lacking_perm : forall had, Permutation (lacking had) drawable.
Proof. intros had. apply placed. Qed.

(** ** How often the tokens of a set lead *)

(** The chance that a token of X is drafted. *)
Definition reach (X : list token) : R := 1 - product (mass V (off_set (mem X)) Rs).

Lemma off_mem : forall X drawn, off (off_set (mem X)) drawn = if existsb (mem X) drawn then 0 else 1.
Proof.
  intros X. induction drawn as [|y drawn IH]; simpl; auto. rewrite IH. unfold off_set. destruct (mem X y); simpl; [ring|].
  destruct (existsb (mem X) drawn); ring.
Qed.

Lemma leading_in : forall o drawn y, leading o drawn = Some y -> In y drawn /\ In y o.
Proof.
  induction o as [|x o IH]; simpl; intros drawn y E; [discriminate|]. destruct (existsb (Nat.eqb x) drawn) eqn:M.
  - injection E as <-. split; auto. apply mem_in. auto.
  - destruct (IH drawn y E). auto.
Qed.

Lemma leading_prefix : forall X Y drawn, existsb (mem X) drawn = true ->
  exists y, leading (X ++ Y) drawn = Some y /\ In y X.
Proof.
  intros X Y drawn H. apply existsb_exists in H as [z [Z M]]. apply mem_in in M.
  induction X as [|x X IH]; [destruct M|]. simpl. destruct (existsb (Nat.eqb x) drawn) eqn:E; [exists x; simpl; auto|].
  destruct M as [->|M].
  - exfalso. assert (existsb (Nat.eqb z) drawn = true); [|congruence]. apply mem_in. auto.
  - destruct (IH M) as [y [L I]]. exists y. simpl. auto.
Qed.

Lemma over_led : forall X o drawn, NoDup X ->
  over X (led o drawn) = match leading o drawn with Some y => if mem X y then 1 else 0 | None => 0 end.
Proof.
  intros X o drawn. unfold led. destruct (leading o drawn) as [y|].
  - induction 1 as [|x X D N IH]; simpl; auto. rewrite IH. unfold mem at 2. simpl.
    destruct (Nat.eqb_spec y x) as [->|]; simpl.
    + replace (mem X x) with false by (symmetry; apply mem_out; auto). ring.
    + fold (mem X y). ring.
  - intros _. induction X as [|x X IH]; simpl; lra.
Qed.

Definition is_order (o : list token) : Prop := Permutation o drawable.

Lemma order_once : forall o, is_order o -> NoDup o /\ forall x, In x o -> In x (vocabulary V).
Proof.
  intros o P. split; [apply (Permutation_NoDup (Permutation_sym P)), drawable_once|].
  intros x I. apply drawable_in. apply (Permutation_in _ P I).
Qed.

Lemma led_in_mean : forall o X, is_order o ->
  over X (led_in o) = mean (draw_each Rs) (fun drawn => over X (led o drawn)).
Proof.
  intros o X P. destruct (order_once o P) as [D I]. induction X as [|x X IH]; simpl.
  - symmetry. rewrite (mean_ext V _ _ _ (fun _ => 0 * 0)) by (intros; ring). rewrite mean_mul. ring.
  - rewrite mean_add, IH. f_equal. unfold RealPrograms.led_in.
    change (leads o Rs (map (fun _ => 1) Rs) x = mean (draw_each Rs) (fun a => led o a x)).
    rewrite <- (start_mass V Rs laws), (leads_mean V o (fun _ => 1) Rs x D I laws) by (intros; lra).
    apply mean_ext. intros drawn. rewrite off_one. ring.
Qed.

Lemma reach_mean : forall X, reach X = mean (draw_each Rs) (fun drawn => 1 - off (off_set (mem X)) drawn).
Proof. intros X. unfold reach. rewrite mean_sub, mean_off, (mean_one V _ _ _ (draw_each_proper V Rs laws)). auto. Qed.

Lemma led_at_most : forall o X, is_order o -> NoDup X -> over X (led_in o) <= reach X.
Proof.
  intros o X P N. rewrite led_in_mean, reach_mean by auto. apply (mean_le V _ _ _ _ _ (draw_each_proper V Rs laws)).
  intros drawn _. rewrite over_led, off_mem by auto.
  destruct (leading o drawn) as [y|] eqn:E; [|destruct (existsb _ drawn); lra].
  destruct (mem X y) eqn:M; [|destruct (existsb _ drawn); lra].
  replace (existsb (mem X) drawn) with true; [lra|]. symmetry. apply existsb_exists. exists y. split; auto.
  apply (leading_in o drawn y E).
Qed.

Lemma led_first : forall X Y, is_order (X ++ Y) -> over X (led_in (X ++ Y)) = reach X.
Proof.
  intros X Y P. assert (N : NoDup X) by (destruct (order_once _ P) as [D _]; clear - D; induction X; [constructor|];
    inversion D; subst; constructor; auto; intros I; apply H1, in_or_app; auto).
  rewrite led_in_mean, reach_mean by auto. apply mean_ext.
  intros drawn. rewrite over_led, off_mem by auto. destruct (existsb (mem X) drawn) eqn:E.
  - destruct (leading_prefix X Y drawn E) as [y [-> I]]. apply mem_in in I. rewrite I. ring.
  - destruct (leading (X ++ Y) drawn) as [y|] eqn:L; [|ring]. destruct (mem X y) eqn:M; [|ring].
    exfalso. assert (existsb (mem X) drawn = true); [|congruence]. apply existsb_exists. exists y. split; auto.
    apply (leading_in _ _ _ L).
Qed.

Lemma product_zero : forall s Ls, Ls <> [] -> (forall R, In R Ls -> total (fun y => R y * s y) = 0) ->
  product (mass V s Ls) = 0.
Proof.
  intros s [|R Ls] N H; [contradiction|].
  change (total (fun y => R y * s y) * product (mass V s Ls) = 0). rewrite H by (simpl; auto). ring.
Qed.

Lemma reach_all : reach drawable = 1.
Proof.
  unfold reach. rewrite product_zero; [ring|auto|]. intros R J.
  rewrite (total_ext_in V _ (fun _ => 0 * 0)); [rewrite total_mul; ring|].
  intros y I. unfold off_set. destruct (mem drawable y) eqn:M; [ring|]. apply mem_out in M.
  rewrite (pi_zero y); [ring| |auto].
  intros P. apply M, drawable_in. auto.
Qed.

Lemma led_all : forall o, is_order o -> over drawable (led_in o) = 1.
Proof.
  intros o P. rewrite <- (over_perm o drawable) by auto. rewrite <- (app_nil_r o) at 2.
  rewrite led_first by (rewrite app_nil_r; auto).
  rewrite <- reach_all. unfold reach. f_equal. f_equal. unfold mass. apply map_ext. intros R. apply total_ext. intros y.
  f_equal.
  unfold off_set. replace (mem o y) with (mem drawable y); auto. apply eq_true_iff_eq. rewrite !mem_in.
  split; apply Permutation_in; auto. symmetry. auto.
Qed.

Lemma led_off : forall o x, is_order o -> ~ 0 < pi x -> led_in o x = 0.
Proof.
  intros o x P Z. assert (N : ~ In x o) by (intros I; apply Z, drawable_in, (Permutation_in _ P I)).
  unfold RealPrograms.led_in. assert (G : forall rest, leads o Rs rest x = 0); [|apply G]. clear P Z.
  induction o as [|y o IH]; intros rest; simpl; auto.
  destruct (Nat.eqb_spec x y) as [->|D]; [exfalso; apply N; simpl; auto|].
  apply IH. intros I. apply N. simpl. auto.
Qed.

(** ** Laws of orders *)

Definition is_law (os : list (R * list token)) : Prop :=
  (forall chance o, In (chance, o) os -> 0 <= chance /\ is_order o) /\ fold_right Rplus 0 (map fst os) = 1.

Lemma lead_cons : forall chance o os x, lead ((chance, o) :: os) Rs x = chance * led_in o x + lead os Rs x.
Proof. reflexivity. Qed.

Lemma lead_over : forall os X a, (forall chance o, In (chance, o) os -> 0 <= chance /\ is_order o) ->
  (forall o, is_order o -> over X (led_in o) <= a) -> over X (lead os Rs) <= fold_right Rplus 0 (map fst os) * a.
Proof.
  intros os X a H L. induction os as [|[chance o] os IH]; simpl.
  - apply Req_le. rewrite Rmult_0_l. clear. induction X as [|x X IH]; simpl; auto. rewrite IH. unfold lead. simpl. ring.
  - rewrite (over_ext X _ (fun x => chance * led_in o x + lead os Rs x)) by reflexivity. rewrite over_add, over_mul.
    destruct (H chance o (or_introl eq_refl)) as [C P]. specialize (L o P).
    assert (over X (lead os Rs) <= fold_right Rplus 0 (map fst os) * a).
    { apply IH. intros c' o' I. apply (H c' o'). simpl. auto. }
    assert (chance * over X (led_in o) <= chance * a) by (apply Rmult_le_compat_l; auto). lra.
Qed.

Lemma lead_all : forall os, (forall chance o, In (chance, o) os -> 0 <= chance /\ is_order o) ->
  over drawable (lead os Rs) = fold_right Rplus 0 (map fst os).
Proof.
  intros os H. induction os as [|[chance o] os IH]; simpl.
  - clear. induction drawable as [|x X IH]; simpl; auto. rewrite IH. unfold lead. simpl. ring.
  - rewrite (over_ext _ _ (fun x => chance * led_in o x + lead os Rs x)) by reflexivity.
    rewrite over_add, over_mul, led_all, IH; [ring| |].
    + intros c' o' I. apply (H c' o'). simpl. auto.
    + apply (H chance o). simpl. auto.
Qed.

Lemma lead_off : forall os x, (forall chance o, In (chance, o) os -> 0 <= chance /\ is_order o) -> ~ 0 < pi x ->
  lead os Rs x = 0.
Proof.
  intros os x H Z. induction os as [|[chance o] os IH]; [reflexivity|]. rewrite lead_cons, led_off, IH; auto; [ring| |].
  - intros c' o' I. apply (H c' o'). simpl. auto.
  - apply (H chance o). simpl. auto.
Qed.

End Orders.
