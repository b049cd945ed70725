class LayerNormLSTMRecurrence: pass
