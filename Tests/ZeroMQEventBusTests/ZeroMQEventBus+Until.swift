import ZeroMQEventBus

extension ZeroMQEventBus {
    /// Waits until something is true of it.
    func until(_ isTrue: @Sendable (isolated ZeroMQEventBus) -> Bool) async {
        while !isTrue(self) { await Task.yield() }
    }
}
