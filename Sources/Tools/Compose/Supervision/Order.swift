/// What is wanted of an instance, whatever it does at the moment.
package struct Order: Sendable, Codable, Equatable {
    /// One that was stopped stays so, whatever its restart policy, until somebody starts it again.
    package private(set) var isWanted = false
    /// How often it was asked to start. A process of an earlier round has to end, and one of this round to follow it.
    package private(set) var round = 0
    /// Whether nothing of the instance shall be left.
    package private(set) var isRemoved = false
    /// Whether it starts without a look at those that it depends on.
    private(set) var ignoresDependencies = false
    /// What its process is granted when it is asked to end, if not the service's own grace.
    private(set) var grace: Duration?

    mutating func start(ignoresDependencies: Bool = false, grace: Duration? = nil) {
        isWanted = true
        round += 1
        isRemoved = false
        self.ignoresDependencies = ignoresDependencies
        self.grace = grace
    }

    /// The grace was for those that had to end before.
    mutating func begin() {
        grace = nil
    }

    mutating func ignoreDependencies() {
        ignoresDependencies = true
    }

    mutating func stop(grace: Duration?) {
        isWanted = false
        self.grace = grace
    }

    mutating func remove(grace: Duration?) {
        stop(grace: grace)
        isRemoved = true
    }
}
