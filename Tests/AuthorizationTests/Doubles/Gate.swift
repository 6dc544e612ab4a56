/// Holds up whoever passes until it is opened, and tells when somebody has come.
actor Gate {
    private var isOpen = false
    private var hasVisitor = false
    private var held: [CheckedContinuation<Void, Never>] = []
    private var watchers: [CheckedContinuation<Void, Never>] = []

    func pass() async {
        hasVisitor = true
        watchers.forEach { $0.resume() }
        watchers = []
        guard !isOpen else { return }
        await withCheckedContinuation { held.append($0) }
    }

    func visited() async {
        guard !hasVisitor else { return }
        await withCheckedContinuation { watchers.append($0) }
    }

    func open() {
        isOpen = true
        held.forEach { $0.resume() }
        held = []
    }
}
