internal import Foundation

/// Where the executables are.
enum Executable {
    /// Built beside the test bundle, or beside `bus-soak`.
    private static let directory = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().path

    /// - Parameter name: of an executable of this project, or a whole path.
    static func path(_ name: String) -> String {
        name.hasPrefix("/") ? name : "\(directory)/\(name)"
    }
}
