"""People of a video: detection, tracking, landmarks, and the fit of SMPL rotations to them."""
