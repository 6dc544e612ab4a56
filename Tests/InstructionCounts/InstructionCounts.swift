import Foundation

/// `instruction-counts PATH COUNT` runs a hot path COUNT times, so that `scripts/count-instructions` can count its
/// instructions. `instruction-counts` prints the names of the paths.
///
/// The program is synchronous and does the same in each run.
@main
struct InstructionCounts {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let name = arguments.first else {
            for path in HotPath.allCases { print(path.rawValue) }
            return
        }
        guard let path = HotPath(rawValue: name), let count = arguments.dropFirst().first.flatMap({ Int($0) }) else {
            print("usage: instruction-counts [PATH COUNT]")
            exit(EX_USAGE)
        }
        try path.run(count)
    }
}
