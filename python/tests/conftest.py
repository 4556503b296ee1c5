"""What tests share."""

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("kith", max_examples=60, deadline=None)
settings.load_profile("kith")


@pytest.fixture
def rng():
    return np.random.default_rng(7)
