import CommandLineTestSupport

extension SegueCommandLine {
    /// Where a new user stands after the clone, but with state and sockets of the test's own.
    static func inRepository(_ body: (SegueCommandLine) async throws -> Void) async throws {
        try await inScratch { segue in
            var segue = segue
            segue.workingDirectory = Repository.path("")
            try await body(segue)
        }
    }
}
