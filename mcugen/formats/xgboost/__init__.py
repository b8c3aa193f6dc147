"""Files of XGBoost."""
