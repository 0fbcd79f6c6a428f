"""What a module means, worked out the slow and simple way, to judge the pass by."""
