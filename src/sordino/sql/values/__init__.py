"""Questions where what cells contain is protected: continuous versions, and bounds on their derivatives."""
