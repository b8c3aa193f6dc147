# SPDX-License-Identifier: Apache-2.0
"""The estimators of scikit-learn, LightGBM and XGBoost that are tried, each with settings over their ranges."""

from __future__ import annotations

from typing import Any

from tests.random.estimators import Settings, estimator


@estimator("classify")
def logistic_regression(s: Settings) -> Any:
    from sklearn.linear_model import LogisticRegression

    s.options["texts"] = True
    return LogisticRegression(C=s.number(0.01, 100), fit_intercept=s.pick("intercept", (True, False)))


@estimator("classify")
def linear_classifiers(s: Settings) -> Any:
    from sklearn import linear_model, svm

    kind = s.pick("kind", ("SGDClassifier", "RidgeClassifier", "Perceptron", "LinearSVC"))
    if kind == "LinearSVC":
        return svm.LinearSVC(C=s.number(0.1, 10), random_state=s.seed())
    if kind == "RidgeClassifier":
        return linear_model.RidgeClassifier(alpha=s.number(0.1, 10))
    if kind == "Perceptron":
        return linear_model.Perceptron(random_state=s.seed())
    return linear_model.SGDClassifier(
        loss=s.pick("loss", ("hinge", "log_loss", "modified_huber")), random_state=s.seed()
    )


@estimator("classify")
def discriminants(s: Settings) -> Any:
    from sklearn import discriminant_analysis as d

    if s.pick("kind", ("linear", "quadratic")) == "linear":
        return d.LinearDiscriminantAnalysis(solver=s.pick("solver", ("svd", "lsqr")))
    return d.QuadraticDiscriminantAnalysis(reg_param=s.number(0.05, 0.5))


@estimator("classify")
def support_vectors(s: Settings) -> Any:
    from sklearn.svm import SVC, NuSVC

    kernel = s.pick("kernel", ("linear", "poly", "rbf", "sigmoid"))
    given = {
        "kernel": kernel,
        "gamma": s.number(0.05, 1),
        "coef0": s.number(0.1, 1),
        "degree": s.pick("degree", (2, 3)),
    }
    if s.pick("nu", (False, False, True)):
        return NuSVC(nu=0.3, **given)
    return SVC(C=s.number(0.1, 10), probability=s.pick("probability", (False, True)), random_state=s.seed(), **given)


@estimator("regress")
def support_vector_regressors(s: Settings) -> Any:
    from sklearn import svm

    kernel = s.pick("kernel", ("linear", "poly", "rbf", "sigmoid"))
    given = {
        "kernel": kernel,
        "gamma": s.number(0.05, 1),
        "coef0": s.number(0.1, 1),
        "degree": s.pick("degree", (2, 3)),
    }
    kind = s.pick("kind", ("SVR", "NuSVR", "LinearSVR"))
    if kind == "LinearSVR":
        return svm.LinearSVR(C=s.number(0.1, 10), random_state=s.seed())
    return svm.SVR(C=s.number(0.1, 10), **given) if kind == "SVR" else svm.NuSVR(nu=0.4, **given)


@estimator("none")
def one_class(s: Settings) -> Any:
    from sklearn.svm import OneClassSVM

    return OneClassSVM(kernel=s.pick("kernel", ("linear", "rbf", "poly")), gamma=s.number(0.05, 1), nu=0.2)


def _distance(s: Settings) -> dict[str, Any]:
    return {
        "n_neighbors": s.pick("neighbors", (1, 3, 4, 7)),
        "weights": s.pick("weights", ("uniform", "distance")),
        "metric": s.pick("metric", ("euclidean", "manhattan", "minkowski")),
    }


@estimator("classify")
def neighbours(s: Settings) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(**_distance(s))


@estimator("regress")
def neighbour_regressors(s: Settings) -> Any:
    from sklearn.neighbors import KNeighborsRegressor

    return KNeighborsRegressor(**_distance(s))


@estimator("classify")
def naive_bayes(s: Settings) -> Any:
    from sklearn import naive_bayes as b

    kind = s.pick("kind", ("GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB"))
    s.options["positive"] = kind in ("MultinomialNB", "ComplementNB")
    if kind == "GaussianNB":
        return b.GaussianNB()
    more = {"binarize": 0.25} if kind == "BernoulliNB" else {}
    return getattr(b, kind)(alpha=s.number(0.1, 2), **more)


def _tree(s: Settings) -> dict[str, Any]:
    return {
        "max_depth": s.pick("depth", (1, 3, 6, None)),
        "min_samples_leaf": s.pick("leaf", (1, 3)),
        "random_state": s.seed(),
    }


@estimator("classify")
def tree_classifiers(s: Settings) -> Any:
    from sklearn import ensemble, tree

    s.options["texts"] = True
    kind = s.pick("kind", ("DecisionTree", "ExtraTree", "RandomForest", "ExtraTrees"))
    if kind in ("DecisionTree", "ExtraTree"):
        return getattr(tree, f"{kind}Classifier")(criterion=s.pick("criterion", ("gini", "entropy")), **_tree(s))
    return getattr(ensemble, f"{kind}Classifier")(n_estimators=s.pick("trees", (1, 4, 12)), **_tree(s))


@estimator("regress")
def tree_regressors(s: Settings) -> Any:
    from sklearn import ensemble, tree

    kind = s.pick("kind", ("DecisionTree", "ExtraTree", "RandomForest", "ExtraTrees"))
    if kind in ("DecisionTree", "ExtraTree"):
        return getattr(tree, f"{kind}Regressor")(**_tree(s))
    return getattr(ensemble, f"{kind}Regressor")(n_estimators=s.pick("trees", (1, 4, 12)), **_tree(s))


@estimator("classify")
def boosted_classifiers(s: Settings) -> Any:
    from sklearn import ensemble

    kind = s.pick("kind", ("GradientBoosting", "HistGradientBoosting", "AdaBoost"))
    if kind == "AdaBoost":
        return ensemble.AdaBoostClassifier(n_estimators=s.pick("trees", (2, 5)), random_state=s.seed())
    if kind == "HistGradientBoosting":
        return ensemble.HistGradientBoostingClassifier(max_iter=s.pick("trees", (2, 6)), min_samples_leaf=4)
    return ensemble.GradientBoostingClassifier(n_estimators=s.pick("trees", (2, 8)), max_depth=3, random_state=s.seed())


@estimator("regress")
def boosted_regressors(s: Settings) -> Any:
    from sklearn import ensemble

    kind = s.pick("kind", ("GradientBoosting", "HistGradientBoosting", "AdaBoost"))
    if kind == "AdaBoost":
        return ensemble.AdaBoostRegressor(n_estimators=s.pick("trees", (2, 5)), random_state=s.seed())
    if kind == "HistGradientBoosting":
        return ensemble.HistGradientBoostingRegressor(max_iter=s.pick("trees", (2, 6)), min_samples_leaf=4)
    loss = s.pick("loss", ("squared_error", "huber", "quantile"))
    return ensemble.GradientBoostingRegressor(n_estimators=s.pick("trees", (2, 8)), loss=loss, random_state=s.seed())


@estimator("classify")
def lightgbm_classifiers(s: Settings) -> Any:
    from lightgbm import LGBMClassifier

    kind = s.pick("boosting", ("gbdt", "dart"))
    return LGBMClassifier(
        n_estimators=s.pick("trees", (2, 6)),
        num_leaves=7,
        min_child_samples=4,
        boosting_type=kind,
        verbose=-1,
        n_jobs=1,
    )


@estimator("regress")
def lightgbm_regressors(s: Settings) -> Any:
    from lightgbm import LGBMRegressor

    objective = s.pick("objective", ("regression", "regression_l1", "huber"))
    return LGBMRegressor(
        n_estimators=s.pick("trees", (2, 6)),
        num_leaves=7,
        min_child_samples=4,
        objective=objective,
        verbose=-1,
        n_jobs=1,
    )


@estimator("classify")
def xgboost_classifiers(s: Settings) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=s.pick("trees", (2, 6)), max_depth=3, n_jobs=1, random_state=s.seed() % 1000)


@estimator("regress")
def xgboost_regressors(s: Settings) -> Any:
    from xgboost import XGBRegressor

    base = s.pick("base", (None, 0.25))
    return XGBRegressor(
        n_estimators=s.pick("trees", (2, 6)), max_depth=s.pick("depth", (1, 3)), base_score=base, n_jobs=1
    )


@estimator("regress")
def linear_regressors(s: Settings) -> Any:
    from sklearn import linear_model

    kinds = ("LinearRegression", "Ridge", "Lasso", "ElasticNet", "BayesianRidge", "HuberRegressor", "SGDRegressor",
             "LassoLars", "ARDRegression")  # fmt: skip
    return getattr(linear_model, s.pick("kind", kinds))()


@estimator("regress")
def other_regressors(s: Settings) -> Any:
    from sklearn.cross_decomposition import PLSRegression
    from sklearn.gaussian_process import GaussianProcessRegressor, kernels

    if s.pick("kind", ("PLS", "process")) == "PLS":
        return PLSRegression(n_components=1)
    return GaussianProcessRegressor(kernels.RBF(s.number(0.5, 3)), optimizer=None, alpha=0.1)


def _layers(s: Settings) -> dict[str, Any]:
    return {
        "hidden_layer_sizes": s.pick("layers", ((4,), (8, 5), (3, 3, 3))),
        "activation": s.pick("activation", ("relu", "tanh", "logistic", "identity")),
        "max_iter": 20,
        "random_state": s.seed(),
    }


@estimator("classify")
def perceptron_classifiers(s: Settings) -> Any:
    from sklearn.neural_network import MLPClassifier

    return MLPClassifier(**_layers(s))


@estimator("regress")
def perceptron_regressors(s: Settings) -> Any:
    from sklearn.neural_network import MLPRegressor

    return MLPRegressor(**_layers(s))


@estimator("none")
def scalers(s: Settings) -> Any:
    return scaler(s)


def scaler(s: Settings) -> Any:
    from sklearn import preprocessing as p

    kind = s.pick(
        "scaler", ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "Normalizer", "Binarizer")
    )
    if kind == "Normalizer":
        return p.Normalizer(s.pick("norm", ("l1", "l2", "max")))
    if kind == "Binarizer":
        return p.Binarizer(threshold=0.25)
    if kind == "MinMaxScaler":
        return p.MinMaxScaler(clip=s.pick("clip", (False, True)))
    if kind == "StandardScaler":
        return p.StandardScaler(with_mean=s.pick("mean", (True, False)), with_std=s.pick("std", (True, False)))
    return getattr(p, kind)()


@estimator("none")
def shapers(s: Settings) -> Any:
    from sklearn import impute
    from sklearn import preprocessing as p

    kind = s.pick("kind", ("PolynomialFeatures", "PowerTransformer", "KBinsDiscretizer", "SimpleImputer"))
    if kind == "PolynomialFeatures":
        degree, only = s.pick("degree", (2, 3)), s.pick("only", (False, True))
        return p.PolynomialFeatures(degree, interaction_only=only, include_bias=s.pick("bias", (False, True)))
    if kind == "PowerTransformer":
        return p.PowerTransformer(standardize=s.pick("standardize", (True, False)))
    if kind == "KBinsDiscretizer":
        encode = s.pick("encode", ("ordinal", "onehot-dense"))
        return p.KBinsDiscretizer(n_bins=3, encode=encode, strategy=s.pick("strategy", ("uniform", "quantile")))
    return impute.SimpleImputer(strategy=s.pick("strategy", ("mean", "median", "constant")))


@estimator("none")
def encoders(s: Settings) -> Any:
    from sklearn import preprocessing as p

    s.options |= {"steps": True, "as trained": True}
    if s.pick("kind", ("one hot", "ordinal")) == "ordinal":
        return p.OrdinalEncoder()
    return p.OneHotEncoder(sparse_output=False, handle_unknown="ignore")


@estimator("none")
def decompositions(s: Settings) -> Any:
    from sklearn import decomposition, random_projection

    kind = s.pick("kind", ("PCA", "IncrementalPCA", "TruncatedSVD", "projection", "KernelPCA"))
    if kind == "projection":
        return random_projection.GaussianRandomProjection(n_components=2, random_state=s.seed())
    if kind == "TruncatedSVD":
        return decomposition.TruncatedSVD(n_components=1, random_state=s.seed())
    if kind == "PCA":
        return decomposition.PCA(n_components=2, whiten=s.pick("whiten", (False, True)))
    return getattr(decomposition, kind)(n_components=2)


@estimator("none")
def clusters(s: Settings) -> Any:
    from sklearn import cluster, mixture

    kind = s.pick("kind", ("KMeans", "MiniBatchKMeans", "mixture"))
    count = s.pick("clusters", (2, 3, 5))
    if kind == "mixture":
        shape = s.pick("covariance", ("full", "tied", "diag", "spherical"))
        return mixture.GaussianMixture(count, covariance_type=shape, random_state=s.seed())
    return getattr(cluster, kind)(count, n_init=1, random_state=s.seed())


@estimator("none")
def outliers(s: Settings) -> Any:
    from sklearn.ensemble import IsolationForest

    return IsolationForest(n_estimators=s.pick("trees", (2, 5)), max_samples=16, random_state=s.seed())


@estimator("classify")
def pipelines(s: Settings) -> Any:
    from sklearn.pipeline import make_pipeline

    last = s.pick("last", (logistic_regression, perceptron_classifiers, tree_classifiers, support_vectors))
    return make_pipeline(scaler(s), *([decompositions(s)] if s.rng.random() < 0.3 else []), last(s))


@estimator("regress")
def pipelines_of_regressors(s: Settings) -> Any:
    from sklearn.pipeline import FeatureUnion, make_pipeline

    last = s.pick("last", (linear_regressors, perceptron_regressors, tree_regressors, boosted_regressors))
    if s.rng.random() < 0.4:
        return make_pipeline(FeatureUnion([("a", scaler(s)), ("b", decompositions(s))]), last(s))
    return make_pipeline(scaler(s), last(s))


@estimator("classify")
def combined(s: Settings) -> Any:
    from sklearn import ensemble, multiclass

    s.options["zipmap"] = False
    kind = s.pick("kind", ("voting", "bagging", "one against all", "stacking"))
    if kind == "bagging":
        return ensemble.BaggingClassifier(n_estimators=3, random_state=s.seed())
    if kind == "one against all":
        return multiclass.OneVsRestClassifier(logistic_regression(s))
    members = [("a", logistic_regression(s)), ("b", tree_classifiers(s))]
    if kind == "stacking":
        return ensemble.StackingClassifier(members, logistic_regression(s), cv=2)
    return ensemble.VotingClassifier(members, voting=s.pick("voting", ("hard", "soft")))
