internal import Compose
internal import Foundation
internal import Subprocess
internal import SystemPackage

/// The executables that a benchmark starts.
enum Executables {
    /// This very one.
    static var peer: String {
        get throws {
            guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
                throw BenchmarkError("the running executable cannot be found: /proc/self/exe cannot be read")
            }
            return path
        }
    }

    /// One that was built with it.
    static func path(of name: String) throws -> String {
        let directory = SupervisorOptions.runningExecutableDirectory
        let lookup = ExecutableLookup(executableDirectory: directory)
        guard let path = lookup.find(name, workingDirectory: ".", searchPath: "") else {
            throw BenchmarkError("there is no '\(name)' in \(directory ?? "this folder"); build it")
        }
        return path
    }

    /// - Parameter teardown: how it is ended when the benchmark fails or is interrupted.
    static func configuration(
        _ executable: String, _ arguments: [String], environment: Environment = .inherit,
        teardown: [TeardownStep] = []
    ) -> Configuration {
        var options = PlatformOptions()
        // Ctrl-C in the terminal must reach the benchmark alone, which then ends all the others.
        options.createSession = true
        options.teardownSequence = teardown
        return Configuration(
            executable: .path(FilePath(executable)), arguments: Arguments(arguments), environment: environment,
            platformOptions: options)
    }
}
