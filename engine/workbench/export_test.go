package workbench

// Samples is samples.
var Samples = samples
