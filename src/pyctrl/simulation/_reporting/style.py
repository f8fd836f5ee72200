"""Style of the page. It has no external resources, and follows the light or dark mode of the reader."""

from __future__ import annotations

__all__ = ["STYLE"]

STYLE = """\
:root {
  color-scheme: light dark;
  --back: #fbfbfa; --card: #ffffff; --text: #1d2430; --soft: #5b6472; --line: #dfe2e7; --head: #f2f3f5;
  --bad: #b3261e; --bad-back: #fdecea; --good: #1b6e3c; --good-back: #e7f4ec; --note: #6b5600; --note-back: #fff6d6;
  --code: #f4f5f7; --link: #1f5fbf;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #14171c; --card: #1b1f26; --text: #e6e9ee; --soft: #a2abb8; --line: #323945; --head: #232933;
    --bad: #ff9c94; --bad-back: #3d1f1d; --good: #7fd6a1; --good-back: #17321f; --note: #f0d271; --note-back: #362d0d;
    --code: #222832; --link: #8ab8ff;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 24px 20px 64px; }
h1 { font-size: 1.5rem; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 40px 0 12px; }
h3 { font-size: 1.02rem; margin: 0 0 12px; overflow-wrap: anywhere; }
h4 { font-size: .82rem; margin: 20px 0 6px; color: var(--soft); font-weight: 600; }
p { margin: 0 0 8px; }
a { color: var(--link); }
code, pre, .mono { font: 13px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
pre { margin: 0; padding: 12px; overflow-x: auto; background: var(--code); border-radius: 6px; }
.verdict { display: inline-block; padding: 2px 10px; border-radius: 99px; font-weight: 600; margin: 8px 0 0; }
.verdict.bad { color: var(--bad); background: var(--bad-back); }
.verdict.good { color: var(--good); background: var(--good-back); }
dl.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(130px, 1fr)); gap: 8px; margin: 20px 0 0; }
dl.facts div { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 8px 12px; }
dl.facts dt { color: var(--soft); font-size: .8rem; }
dl.facts dd { margin: 0; font-size: 1.15rem; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
article { background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--bad);
  border-radius: 8px; padding: 16px 18px; margin: 0 0 16px; }
.guess { background: var(--note-back); color: var(--text); border-radius: 6px; padding: 10px 12px; }
.guess strong { color: var(--note); }
.wide { overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; background: var(--card); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: 5px 10px; border-bottom: 1px solid var(--line); }
tr:last-child > * { border-bottom: 0; }
thead th { background: var(--head); font-size: .82rem; white-space: nowrap; }
tbody th { font-weight: 400; }
article table { font-size: .92rem; }
td.time { text-align: right; white-space: nowrap; color: var(--soft); }
td.who, td.where { white-space: nowrap; color: var(--soft); }
td.what { overflow-wrap: anywhere; min-width: 220px; }
tr.fault td { background: var(--bad-back); } tr.fault .what { color: var(--bad); }
tr.never .what { color: var(--bad); }
.matrix td, .matrix thead th + th { text-align: center; white-space: nowrap; }
.matrix tbody th { position: sticky; left: 0; background: var(--card); min-width: 180px; max-width: 420px;
  overflow-wrap: anywhere; border-right: 1px solid var(--line); }
.matrix .failed { color: var(--bad); font-weight: 700; } .matrix .tried { color: var(--good); }
.matrix .unreached { color: var(--soft); } .matrix .none { color: var(--line); }
.add { color: var(--good); } .del { color: var(--bad); } .hunk { color: var(--soft); }
.soft { color: var(--soft); }
details > summary { cursor: pointer; padding: 6px 0; }
@media (max-width: 600px) {
  main { padding: 16px 12px 48px; } article { padding: 12px; }
  th, td { padding: 5px 7px; } .matrix tbody th { min-width: 130px; max-width: 150px; font-size: .85rem; }
  .events tr { display: grid; grid-template-columns: auto 1fr; border-bottom: 1px solid var(--line); padding: 5px 0; }
  .events tr:last-child { border-bottom: 0; }
  .events td { border: 0; padding: 0 10px; } .events td.time { text-align: left; }
  .events .what { grid-column: 1 / -1; }
  .events td.where { grid-column: 1 / -1; white-space: normal; overflow-wrap: anywhere; }
  .events tr.fault { background: var(--bad-back); }
}
"""
