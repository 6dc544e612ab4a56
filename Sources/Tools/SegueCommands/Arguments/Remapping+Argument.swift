internal import ArgumentParser
package import Monitor

extension Remapping: FormedArgument {
    package static let forms =
        "changes of subject, platform, device or type, as in subject:default=test,platform:ios=tv"

    /// Changes as in `subject:default=test,platform:ios=tv`.
    package init?(argument: String) {
        let changes = argument.split(separator: ",").map { Change($0) }
        guard !changes.isEmpty, changes.allSatisfy({ $0 != nil }) else { return nil }
        self.init(changes.compactMap(\.self))
    }
}
