internal import EventBus

extension BusError {
    /// Whether it tells of this process or its bus, and not of what was to be done.
    var isOfProcess: Bool { [.unavailable, .address, .fenced, .epoch, .journal, .closed].contains(code) }
}
