import SegueCommands

@main
struct SegueProgram {
    static func main() async { await Segue.runProgram() }
}
