"""Motions of people in videos: detection, tracking, landmarks, and the fit of SMPL rotations."""
