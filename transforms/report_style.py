"""How a report looks, in the light and in the dark."""

# Ten hues that are told apart in both schemes; a tag's index picks one.
_HUES = (355, 140, 35, 210, 285, 180, 325, 75, 245, 15)

_TAGS = "\n".join(
    f".t{index} {{ color: hsl({hue} 75% var(--ink)); "
    f"background: hsl({hue} 75% 50% / var(--wash)); }}"
    for index, hue in enumerate(_HUES)
)

TAG_COLOURS = len(_HUES)

CSS = f"""
:root {{
  color-scheme: light dark;
  --page: #ffffff; --card: #f6f7f9; --line: #d9dde3; --text: #1c2128; --soft: #57606a;
  --kept: #2c7a4b; --rejected: #b3452c; --plain: #3b6ea5; --ink: 32%; --wash: 0.13;
}}
@media (prefers-color-scheme: dark) {{
  :root {{
    --page: #14171c; --card: #1d2128; --line: #353b45; --text: #e4e7ec; --soft: #9aa4b1;
    --kept: #4cae76; --rejected: #e0755b; --plain: #6ea3da; --ink: 74%; --wash: 0.2;
  }}
}}
* {{ box-sizing: border-box; }}
body {{
  margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 68rem;
  background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif;
}}
h1 {{ font-size: 1.7rem; line-height: 1.2; margin: 0 0 0.25rem; }}
h2 {{ font-size: 1.2rem; margin: 2.5rem 0 0.75rem; }}
h3 {{ font-size: 1rem; margin: 1.5rem 0 0.5rem; }}
p {{ margin: 0.5rem 0; }}
code {{ font-family: ui-monospace, "SF Mono", Menlo, "DejaVu Sans Mono", monospace; }}
code {{ font-size: 0.85em; overflow-wrap: anywhere; }}
.soft {{ color: var(--soft); font-size: 0.875rem; }}
.tiles {{ display: grid; gap: 0.75rem; margin: 1.25rem 0 0.75rem; }}
.tiles {{ grid-template-columns: repeat(4, 1fr); }}
.tile {{ background: var(--card); border-radius: 0.5rem; padding: 0.6rem 0.9rem; }}
.tile b {{ display: block; font-size: 1.45rem; font-weight: 600; overflow-wrap: anywhere; }}
.notice {{ border-left: 0.25rem solid var(--rejected); background: var(--card); }}
.notice {{ padding: 0.5rem 0.9rem; overflow-wrap: anywhere; }}
.scroll {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: 0.9rem; }}
th, td {{ text-align: left; padding: 0.3rem 1.5rem 0.3rem 0; vertical-align: top; }}
th, td {{ border-bottom: 1px solid var(--line); }}
th {{ font-weight: 600; color: var(--soft); white-space: nowrap; }}
td code {{ overflow-wrap: normal; }}
th.number, td.number {{ text-align: right; white-space: nowrap; }}
td.number {{ font-variant-numeric: tabular-nums; }}
svg.bar {{ display: block; width: 100%; height: 0.7rem; margin-top: 0.4rem; }}
td svg.bar {{ width: clamp(6rem, 26vw, 20rem); }}
svg.bar .track {{ fill: var(--card); }}
svg.bar .fill {{ fill: var(--plain); }}
svg.bar .kept {{ fill: var(--kept); }}
svg.bar .rejected {{ fill: var(--rejected); }}
.pair {{ background: var(--card); border-radius: 0.5rem; }}
.pair {{ padding: 0.6rem 0.9rem; margin: 0.6rem 0; }}
.sides {{ display: grid; grid-template-columns: 1fr 1fr; gap: 0.25rem 1.5rem; }}
.sides p {{ margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }}
.pair .soft {{ margin: 0.35rem 0 0; overflow-wrap: anywhere; }}
@media (max-width: 42rem) {{
  .tiles {{ grid-template-columns: 1fr 1fr; }}
  th, td {{ padding-right: 0.75rem; }}
  .sides {{ grid-template-columns: 1fr; }}
  .sides p + p {{ border-top: 1px solid var(--line); padding-top: 0.25rem; }}
}}
.words {{ border-radius: 0.2rem; padding: 0.1rem 0; }}
.token {{ font: 600 0.75em ui-monospace, Menlo, "DejaVu Sans Mono", monospace; }}
.token {{ border-radius: 0.2rem; padding: 0.1rem 0.15rem; }}
.links {{ display: flex; flex-wrap: wrap; gap: 0.3rem; margin-top: 0.5rem; font-size: 0.85rem; }}
.link {{ border: 1px solid var(--line); border-radius: 1rem; padding: 0 0.6rem; }}
details {{ margin: 0.75rem 0; }}
summary {{ cursor: pointer; }}
{_TAGS}
"""
